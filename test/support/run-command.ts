import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { distPath } from './dist-path.js'

/** Runs a command of the service, such as `orders-copy`. */
export async function runCommand(name: string, args: string[], environment: NodeJS.ProcessEnv) {
  const script = distPath('commands', `${name}.js`)
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, [script, ...args], { env })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, output, errors }
}

/** Runs `orders:copy`, which migrates an empty database. */
export const copyOrders = (environment: { DATA_DIR: string; DATABASE_URL: string }) =>
  runCommand('orders-copy', ['--from', 'sqlite', '--to', 'postgres'], environment)

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findBrowser } from './browser.js'
import { findRedis } from './redis.js'
import { findPython } from './spreadsheet.js'

function run(command: string, ...parameters: string[]): boolean {
  console.log(`$ ${command} ${parameters.join(' ')}`)
  return spawnSync(command, parameters, { stdio: 'inherit' }).status === 0
}

/** Debian's own packages, which bring every library they need; takes root. */
function installFromDebian(...packages: string[]): boolean {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0
  return (
    isDebian &&
    run('apt-get', 'update', '-qq') &&
    run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages)
  )
}

function installFromPlaywright(): boolean {
  const packageJson = createRequire(import.meta.url).resolve('playwright-core/package.json')
  return run(process.execPath, join(dirname(packageJson), 'cli.js'), 'install', 'chromium')
}

if (findBrowser() === null) {
  console.log('The browser tests need Chromium, and there is none here: installing it.')
  if (!installFromDebian('chromium', 'fonts-dejavu-core')) installFromPlaywright()
}
console.log(`Browser: ${findBrowser() ?? 'none; the browser tests will fail'}`)

if (findRedis() === null) {
  console.log('The tests of several processes need Redis, and there is none here: installing it.')
  installFromDebian('redis-server')
}
console.log(`Redis: ${findRedis() ?? 'none; the tests of several processes will fail'}`)

if (findPython() === null) {
  console.log('The export tests need Python with openpyxl, and there is none here: installing it.')
  if (!installFromDebian('python3', 'python3-openpyxl')) {
    run('python3', '-m', 'pip', 'install', '--user', 'openpyxl')
  }
}
console.log(`Python: ${findPython() ?? 'none; the export tests will fail'}`)

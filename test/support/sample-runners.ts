import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Sample } from './reference-page.js'

/** The status of the response to each sample by operation ID, or an error. */
export type SampleResults = Record<string, number | string>

const JAVASCRIPT = `
const send = fetch
let status
globalThis.fetch = async (...request) => {
  const response = await send(...request)
  status = response.status
  return response
}
console.log = () => {}
const results = {}
let input = ''
for await (const part of process.stdin) input += part
for (const { operationId, code } of JSON.parse(input)) {
  status = 'no request'
  const url = 'data:text/javascript,' + encodeURIComponent(code)
  await import(url).catch((error) => (status = String(error)))
  results[operationId] = status
}
process.stdout.write(JSON.stringify(results))
`

const PYTHON = `
import contextlib, io, json, sys, urllib.request
send = urllib.request.urlopen
status = None
def urlopen(*request):
    global status
    response = send(*request)
    status = response.status
    return response
urllib.request.urlopen = urlopen
results = {}
for sample in json.load(sys.stdin):
    status = 'no request'
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(sample['code'], {})
    except (Exception, SystemExit) as error:
        status = repr(error)
    results[sample['operationId']] = status
json.dump(results, sys.stdout)
`

/** Curl writes the status to standard error; everything else is discarded. */
const createShellScript = (samples: readonly Sample[]): string =>
  [
    `curl() { command curl -sS -w '%{stderr}%{http_code}' "$@" 2>&3 >/dev/null; }`,
    'exec 3>&1',
    ...samples.flatMap(({ operationId, code }) => [`printf '%s ' ${operationId}`, code, 'echo']),
  ].join('\n')

interface Options {
  cwd: string
  env: NodeJS.ProcessEnv
}

async function run(command: string, args: string[], input: string, options: Options) {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, ...options.env },
  })
  child.stdin.end(input)
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (errors !== '') throw new Error(errors)
  return output
}

type Runner = (samples: readonly Sample[], options: Options) => Promise<SampleResults>

/** Runs the samples of a language one after the other, in one process. */
export const SAMPLE_RUNNERS: Record<string, Runner> = {
  async curl(samples, options) {
    const output = await run('bash', [], createShellScript(samples), options)
    const results = [...output.matchAll(/^(\w+) (.*)$/gm)]
    return Object.fromEntries(
      results.map(([, id = '', status = '']) => [id, Number(status) || status]),
    )
  },
  async javascript(samples, options) {
    const args = ['--input-type=module', '-e', JAVASCRIPT]
    const output = await run(process.execPath, args, JSON.stringify(samples), options)
    return JSON.parse(output) as SampleResults
  },
  async python(samples, options) {
    const output = await run('python3', ['-c', PYTHON], JSON.stringify(samples), options)
    return JSON.parse(output) as SampleResults
  },
}

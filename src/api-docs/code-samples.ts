/** A request to show as code. */
interface SampleRequest {
  method: string
  url: string
  /** Environment variable with the API key or the token; `null` if none is needed */
  secret: string | null
  headers: Record<string, string>
  /** JSON; `undefined` if there is none */
  body: unknown
  response: 'json' | 'nothing' | { fileName: string }
}

export interface CodeSample {
  language: 'curl' | 'javascript' | 'python'
  label: string
  code: string
}

const lines = (...all: (string | false)[]): string =>
  all.filter((line) => line !== false).join('\n')
const indent = (text: string, spaces: number): string =>
  text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
const single = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`

function renderCurl({ method, url, secret, headers, body, response }: SampleRequest): string {
  const implied = body === undefined ? 'GET' : 'POST'
  const options = [
    `curl ${method === implied ? '' : `-X ${method} `}${/[?&]/.test(url) ? quote(url) : url}`,
    ...(secret === null ? [] : [`-H "Authorization: Bearer $${secret}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body, null, 2))}`]),
    ...(typeof response === 'object' ? [`-o ${response.fileName}`] : []),
  ]
  return options.join(' \\\n  ')
}

function renderJavaScript({ method, url, secret, headers, body, response }: SampleRequest): string {
  const fields = [
    ...(secret === null ? [] : [`Authorization: \`Bearer \${process.env.${secret}}\`,`]),
    ...Object.entries(headers).map(([name, value]) => `${single(name)}: ${single(value)},`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: ${single(method)},`]),
    ...(fields.length === 0 ? [] : [`headers: {\n  ${fields.join('\n  ')}\n},`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(body, null, 2)}),`]),
  ]
  const init = options.length === 0 ? '' : `, {\n  ${indent(options.join('\n'), 2)}\n}`
  return lines(
    typeof response === 'object' && `import { writeFile } from 'node:fs/promises'\n`,
    `const response = await fetch(${single(url)}${init})`,
    'if (!response.ok) throw new Error(await response.text())',
    response === 'json' && 'console.log(await response.json())',
    response === 'nothing' && 'console.log(response.status)',
    typeof response === 'object' &&
      `await writeFile(${single(response.fileName)}, Buffer.from(await response.arrayBuffer()))`,
  )
}

/** A JSON value as a Python literal. */
function toPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', value.map(toPython)]
    : [
        '{',
        '}',
        Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one)}`),
      ]
  if (items.length === 0) return open + close
  return `${open}\n${items.map((item) => `    ${indent(item, 4)},\n`).join('')}${close}`
}

function renderPython({ method, url, secret, headers, body, response }: SampleRequest): string {
  const fields = [
    ...(secret === null ? [] : [`"Authorization": "Bearer " + os.environ["${secret}"],`]),
    ...Object.entries(headers).map(
      ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`,
    ),
  ]
  const usesJson = body !== undefined || response === 'json'
  return lines(
    usesJson && 'import json',
    secret !== null && 'import os',
    'from urllib.error import HTTPError',
    'from urllib.request import Request, urlopen\n',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    method !== 'GET' && `    method="${method}",`,
    fields.length > 0 && `    headers={\n        ${fields.join('\n        ')}\n    },`,
    body !== undefined && `    data=json.dumps(${indent(toPython(body), 4)}).encode(),`,
    ')',
    'try:',
    '    with urlopen(request) as response:',
    response === 'json' && '        print(json.load(response))',
    response === 'nothing' && '        print(response.status)',
    typeof response === 'object' &&
      `        with open("${response.fileName}", "wb") as file:\n            file.write(response.read())`,
    'except HTTPError as error:',
    '    raise SystemExit(error.read().decode())',
  )
}

/** Renders a request as code that runs when pasted. */
export const renderSamples = (request: SampleRequest): CodeSample[] => [
  { language: 'curl', label: 'curl', code: renderCurl(request) },
  { language: 'javascript', label: 'JavaScript', code: renderJavaScript(request) },
  { language: 'python', label: 'Python', code: renderPython(request) },
]

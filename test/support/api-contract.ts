import assert from 'node:assert/strict'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import { ProblemDetails } from '../../src/http/problem.js'

export interface ContractResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface Operation {
  responses: Record<
    string,
    { content?: Record<string, { schema?: unknown }>; headers?: Record<string, unknown> }
  >
}
interface Document {
  paths: Record<string, Record<string, Operation>>
}

const PROBLEM = 'application/problem+json'

/** Own headers, which must be documented. */
const NAMED_HEADERS = ['orders-as-of']

const mediaType = ({ headers }: ContractResponse): string =>
  String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim() ?? ''

/** The decoded path of a URL; `null` if it cannot be decoded. */
function getPath(address: string): string | null {
  try {
    return decodeURIComponent(address.split('?', 1)[0] ?? '')
  } catch {
    return null
  }
}

/** Checks responses against an OpenAPI document. */
export function apiContract(document: object) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  const isProblem = ajv.compile(ProblemDetails)
  const compiled = new Map<unknown, ValidateFunction>()
  const validatorOf = (schema: unknown): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile(schema as AnySchema)
    compiled.set(schema, known)
    return known
  }
  // Paths without parameters take precedence, as in the router.
  const operations = Object.entries((document as Document).paths)
    .map(([path, methods]) => ({
      isFixed: !path.includes('{'),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods,
    }))
    .sort((a, b) => Number(b.isFixed) - Number(a.isFixed))

  function operationOf(method: string, address: string): Operation | undefined {
    const path = getPath(address)
    if (path === null) return undefined
    const found = operations.find(({ pattern }) => pattern.test(path))
    return found?.methods[(method === 'HEAD' ? 'get' : method).toLowerCase()]
  }

  function checkProblem(response: ContractResponse, type: string): void {
    assert.equal(type, PROBLEM, 'an error is problem+json')
    const problem: unknown = JSON.parse(response.body.toString())
    assert.ok(isProblem(problem), ajv.errorsText(isProblem.errors))
    assert.equal(problem.status, response.status, 'the problem has the status of the answer')
    assert.equal(problem.requestId, response.headers['x-request-id'], 'and its request id')
  }

  return {
    /** Throws if a response under /api is not documented. */
    check(method: string, address: string, answer: ContractResponse): void {
      const operation = operationOf(method, address)
      const type = mediaType(answer)
      if (operation === undefined) {
        assert.ok(answer.status >= 400, `${answer.status} where nothing is documented`)
        if (method !== 'HEAD') checkProblem(answer, type)
        return
      }
      const { status } = answer
      const range = `${Math.floor(status / 100)}XX`
      const response = operation.responses[status] ?? operation.responses[range]
      assert.ok(response, `${status} is documented`)
      for (const name of NAMED_HEADERS.filter((name) => answer.headers[name] !== undefined)) {
        assert.ok(response.headers?.[name], `the header ${name} is documented for ${status}`)
      }
      if (method === 'HEAD') return
      const { content } = response
      if (content === undefined) {
        assert.equal(answer.body.length, 0, 'nothing is documented, so nothing is answered')
        return
      }
      const documented = content[type]
      assert.ok(documented, `${type || 'no type'} is documented for ${status}`)
      if (type === PROBLEM) checkProblem(answer, type)
      else if (type === 'application/json') {
        const isAnswer = validatorOf(documented.schema)
        assert.ok(isAnswer(JSON.parse(answer.body.toString())), ajv.errorsText(isAnswer.errors))
      }
    },
  }
}

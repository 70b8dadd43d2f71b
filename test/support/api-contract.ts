import assert from 'node:assert/strict'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import { ProblemDetails } from '../../src/core/http/problem.js'

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

/** Non-standard headers, which must be documented. */
const CUSTOM_HEADERS = ['orders-as-of']

const getMediaType = ({ headers }: ContractResponse): string =>
  String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim() ?? ''

/** The decoded path of a request target; `null` if it is malformed. */
function decodePath(address: string): string | null {
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
  const validators = new Map<unknown, ValidateFunction>()
  const getValidator = (schema: unknown): ValidateFunction => {
    const validator = validators.get(schema) ?? ajv.compile(schema as AnySchema)
    validators.set(schema, validator)
    return validator
  }
  // Like a router, prefers paths without parameters.
  const paths = Object.entries((document as Document).paths)
    .map(([path, methods]) => ({
      isStatic: !path.includes('{'),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods,
    }))
    .sort((a, b) => Number(b.isStatic) - Number(a.isStatic))

  function findOperation(method: string, address: string): Operation | undefined {
    const path = decodePath(address)
    if (path === null) return undefined
    const match = paths.find(({ pattern }) => pattern.test(path))
    return match?.methods[(method === 'HEAD' ? 'get' : method).toLowerCase()]
  }

  function checkProblem(response: ContractResponse, type: string): void {
    assert.equal(type, PROBLEM, 'an error is problem+json')
    const problem: unknown = JSON.parse(response.body.toString())
    assert.ok(isProblem(problem), ajv.errorsText(isProblem.errors))
    assert.equal(problem.status, response.status, 'the problem has the status of the response')
    assert.equal(problem.requestId, response.headers['x-request-id'], 'and its request ID')
  }

  return {
    /** Throws if a response under /api differs from the document. */
    check(method: string, address: string, response: ContractResponse): void {
      const operation = findOperation(method, address)
      const type = getMediaType(response)
      const { status } = response
      if (operation === undefined) {
        assert.ok(status >= 400, `an undocumented operation returns an error, not ${status}`)
        if (method !== 'HEAD') checkProblem(response, type)
        return
      }
      const range = `${Math.floor(status / 100)}XX`
      const documented = operation.responses[status] ?? operation.responses[range]
      assert.ok(documented, `${status} is documented`)
      for (const name of CUSTOM_HEADERS.filter((name) => response.headers[name] !== undefined)) {
        assert.ok(documented.headers?.[name], `the header ${name} is documented for ${status}`)
      }
      if (method === 'HEAD') return
      if (documented.content === undefined) {
        assert.equal(response.body.length, 0, `${status} is documented without a body`)
        return
      }
      const content = documented.content[type]
      assert.ok(content, `${type || 'a response without a type'} is documented for ${status}`)
      if (type === PROBLEM) checkProblem(response, type)
      else if (type === 'application/json') {
        const isValid = getValidator(content.schema)
        assert.ok(isValid(JSON.parse(response.body.toString())), ajv.errorsText(isValid.errors))
      }
    },
  }
}

import type { FastifyRequest } from 'fastify'
import { isUnsafeMethod } from '../http/fetch-metadata.js'
import type { Problem } from '../http/problem.js'
import { isInAdminScope } from '../http/request-path.js'

const TITLES: Partial<Record<number, string>> = {
  400: 'Bad request',
  401: 'Sign in to continue',
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Method not allowed',
  429: 'Too many requests',
  502: 'Temporarily unavailable',
  503: 'Temporarily unavailable',
  504: 'Temporarily unavailable',
}

const isTransient = (statusCode: number): boolean => statusCode === 429 || statusCode >= 500

/**
 * Templates and data that show an error as a page or a fragment. In the admin scope, the page has
 * the layout of the portal and, if the error is transient, a way to retry.
 */
export function buildErrorPage(problem: Problem, request: FastifyRequest) {
  const { statusCode, message, members } = problem
  const { id, url, method } = request
  const fallback = statusCode >= 500 ? 'Something went wrong' : 'The request failed'
  const title = TITLES[statusCode] ?? fallback
  if (!isInAdminScope(url)) {
    return {
      views: { page: 'errors/error', fragment: 'errors/_failure' },
      data: { title, message, requestId: statusCode >= 500 ? id : null },
    }
  }
  const canRetry = isTransient(statusCode)
  const isUnsafe = isUnsafeMethod(method)
  return {
    views: { page: 'portal/error', fragment: 'portal/_failure' },
    data: {
      title,
      reason: message,
      /** Shown for unexpected errors only */
      requestId: statusCode === 500 ? id : null,
      /** Progress of the operation that the page waits for; the page reloads when it is complete */
      progress: isUnsafe ? undefined : members.progress,
      /** URL that repeats the request */
      retry: canRetry && !isUnsafe ? url : null,
      /** The user submitted data and can submit it again */
      wasSubmitted: canRetry && isUnsafe,
    },
  }
}

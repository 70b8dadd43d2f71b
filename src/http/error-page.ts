import type { FastifyRequest } from 'fastify'
import { isInAdminScope } from './admin-scope.js'
import type { Problem } from './problem.js'
import { isUnsafeMethod } from './fetch-metadata.js'

/** What an error is called on the pages of administrators. */
const TITLES: Partial<Record<number, string>> = {
  401: 'Please log in',
  403: 'This was not done',
  404: 'Nothing here',
  405: 'Nothing here',
  429: 'Too many requests',
  503: 'Not available at the moment',
}

/** Whether the same request may well succeed later. */
const isPassing = (statusCode: number): boolean => statusCode === 429 || statusCode >= 500

/**
 * An error as a page, or as a fragment: its templates and what they show. In the administrators'
 * area it has the frame of the portal, and a way on.
 */
export function buildErrorPage(problem: Problem, request: FastifyRequest) {
  const { statusCode, title, message, members } = problem
  const { id: requestId, url, method } = request
  if (!isInAdminScope(url)) {
    return {
      views: { page: 'errors/error', fragment: 'errors/_failure' },
      data: {
        title: statusCode === 404 ? 'Nothing here' : title,
        message,
        requestId: statusCode >= 500 ? requestId : null,
      },
    }
  }
  const mayPass = isPassing(statusCode)
  return {
    views: { page: 'portal/error', fragment: 'portal/_failure' },
    data: {
      administrator: request.knownAdministrator,
      title:
        TITLES[statusCode] ?? (statusCode >= 500 ? 'Something went wrong' : 'That did not work'),
      reason: message,
      /** To quote, where nobody knows yet what went wrong */
      requestId: statusCode === 500 ? requestId : null,
      /** How far what it waits for has come: the page goes on by itself when that is done */
      progress: isUnsafeMethod(method) ? undefined : members.progress,
      /** The same once more, where nothing is sent along */
      retry: mayPass && !isUnsafeMethod(method) ? url : null,
      /** Something was sent that may be sent again */
      wasSent: mayPass && isUnsafeMethod(method),
    },
  }
}

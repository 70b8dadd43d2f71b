import type { FastifyRequest } from 'fastify'
import { isInAdministratorsArea } from './administrators-area.js'
import type { Problem } from './problem.js'
import { isUnsafe } from './provenance.js'

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
export function errorPage(problem: Problem, request: FastifyRequest) {
  const { statusCode, title, message, members } = problem
  const { id: requestId, url, method } = request
  if (!isInAdministratorsArea(url)) {
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
    views: { page: 'admin/error', fragment: 'admin/_failure' },
    data: {
      administrator: request.knownAdministrator,
      title:
        TITLES[statusCode] ?? (statusCode >= 500 ? 'Something went wrong' : 'That did not work'),
      reason: message,
      /** To quote, where nobody knows yet what went wrong */
      requestId: statusCode === 500 ? requestId : null,
      /** How far what it waits for has come: the page goes on by itself when that is done */
      progress: isUnsafe(method) ? undefined : members.progress,
      /** The same once more, where nothing is sent along */
      retry: mayPass && !isUnsafe(method) ? url : null,
      /** Something was sent that may be sent again */
      wasSent: mayPass && isUnsafe(method),
    },
  }
}

import fp from 'fastify-plugin'
import type { ReadPrefill } from '../calculator/read-prefill.js'
import { createPrefillLinks, type LinkError, type PrefillLinks } from './prefill-link.js'

const SCAN_AGAIN = 'Scan it again. If that does not help, ask the crew for a new code.'

/**
 * Reads scanned links for the calculator pages. If a link is rejected, the result has a title and
 * an explanation for guests.
 *
 * @param timeZone IANA time zone of the dates shown
 */
function createPrefillReader(links: PrefillLinks, timeZone: string): ReadPrefill {
  const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone })
  const formatDate = (date: Date): string => dates.format(date)

  return (type, query) => {
    const result = links.read(type, query)
    if (result.ok) {
      const { prefill, link } = result
      return {
        ok: true,
        calculation: prefill,
        source: {
          vessel: prefill.vessel,
          createdOn: formatDate(link.generatedAt),
          validUntil: formatDate(link.expiresAt),
          url: link.path,
          data: link.data,
          sig: link.sig,
        },
      }
    }
    const { error } = result
    const target = error.reason === 'wrong_type' ? error : { calculatorType: type, url: null }
    return {
      ok: false,
      error: {
        reason: error.reason,
        ...describeError(error, formatDate),
        calculatorType: target.calculatorType,
        url: target.url,
      },
    }
  }
}

function describeError(
  error: LinkError,
  formatDate: (date: Date) => string,
): { title: string; explanation: string } {
  switch (error.reason) {
    case 'empty':
      return {
        title: 'This link is empty',
        explanation: `The code contains no trip. ${SCAN_AGAIN}`,
      }
    case 'incomplete':
      return {
        title: 'This link is incomplete',
        explanation: `Part of the code is missing. ${SCAN_AGAIN}`,
      }
    case 'too_long':
      return {
        title: 'This link is too long',
        explanation: `The code is longer than any valid code. ${SCAN_AGAIN}`,
      }
    case 'not_base64':
      return {
        title: 'This code is damaged',
        explanation: `It is cut short or contains invalid characters. ${SCAN_AGAIN}`,
      }
    case 'invalid_data':
      return {
        title: 'This code could not be read',
        explanation: `It does not contain a valid trip. ${SCAN_AGAIN}`,
      }
    case 'wrong_type':
      return {
        title: 'This code is for another calculator',
        explanation: `Its link opened the wrong one.${error.url === null ? ` ${SCAN_AGAIN}` : ''}`,
      }
    case 'edited':
      return {
        title: 'This code cannot be used',
        explanation: `It differs from the code that the crew created. ${SCAN_AGAIN}`,
      }
    case 'not_yet_valid':
      return {
        title: 'This code is not valid yet',
        explanation: `Its creation date is in the future: ${formatDate(error.validFrom)}. Ask the crew for a new code.`,
      }
    case 'expired':
      return {
        title: 'This code has expired',
        explanation: `Codes are valid for 30 days. This one expired on ${formatDate(error.expiredAt)}. Ask the crew for a new code.`,
      }
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Links that fill in a calculator */
    prefillLinks: PrefillLinks
  }
}

/** Signed links that fill in a calculator, as QR codes contain them. */
export default fp(
  async (app) => {
    const links = createPrefillLinks(app.config.sessionSecrets, app.publicBaseUrl)
    app.decorate('prefillLinks', links)
    app.decorate('readPrefill', createPrefillReader(links, app.config.TIME_ZONE))
  },
  { name: 'prefill', dependencies: ['config', 'brand'] },
)

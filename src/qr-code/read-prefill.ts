import type { CalculatorType } from '../calculator/calculator-data.js'
import type { PrefillError, ReadPrefill } from '../calculator/prefill-result.js'
import { lazy } from '../lazy.js'
import type { LinkError, PrefillLinks } from './prefill-link.js'

type Words = Pick<PrefillError, 'title' | 'explanation'>

const SCAN_AGAIN =
  'Scan it again, with the whole code in view. If that fails, ask the crew for a new one.'

/** What happened, what to do; what still works stands on the button below. */
function wordsOf(fault: LinkError, opened: CalculatorType, day: (date: Date) => string): Words {
  switch (fault.reason) {
    case 'empty':
      return {
        title: 'This link is empty',
        explanation: `The trip is missing from it. ${SCAN_AGAIN}`,
      }
    case 'incomplete':
      return {
        title: 'This link is incomplete',
        explanation: `Its end is missing or mangled. ${SCAN_AGAIN}`,
      }
    case 'too-long':
      return {
        title: 'This link is too long',
        explanation: `It is longer than any code of ours, so we did not read it. ${SCAN_AGAIN}`,
      }
    case 'not-base64':
      return {
        title: 'This code is damaged',
        explanation: `Its link was cut short, or holds characters that no code of ours has. ${SCAN_AGAIN}`,
      }
    case 'not-our-data':
      return {
        title: 'This code could not be read',
        explanation: `What its link holds is not a trip for our calculators, or not all of one. ${SCAN_AGAIN}`,
      }
    case 'wrong-type':
      return {
        title: 'This code is for another calculator',
        explanation: `It holds a trip for the ${fault.calculatorType} calculator, but its link opens the ${opened} calculator.`,
      }
    case 'edited':
      return {
        title: 'This code was changed',
        explanation:
          'Something in it was edited after it was made, so we do not use it. Ask the crew for a new code.',
      }
    case 'not-yet-valid':
      return {
        title: 'This code is not valid yet',
        explanation: `It says that it was made in the future, on ${day(fault.validFrom)}. Ask the crew for a new code.`,
      }
    case 'expired':
      return {
        title: 'This code has expired',
        explanation: `Codes work for 30 days; this one ended on ${day(fault.expiredAt)}. Ask the crew for a new code.`,
      }
  }
}

/**
 * Reads scanned links for the calculators' pages: values, or words for a guest on a quay.
 *
 * @param timeZone IANA name of the zone in which dates are written
 */
export function createPrefillReader(links: PrefillLinks, timeZone: string): ReadPrefill {
  const long = lazy(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone }))
  const day = (date: Date): string => long().format(date)

  return (type, query) => {
    const read = links.read(type, query)
    if (read.ok) {
      const { prefill, link } = read
      return {
        ok: true,
        calculation: prefill,
        origin: {
          vessel: prefill.vessel,
          madeOn: day(link.generatedAt),
          validUntil: day(link.expiresAt),
          url: link.path,
          data: link.data,
          sig: link.sig,
        },
      }
    }
    const { fault } = read
    const elsewhere = fault.reason === 'wrong-type' ? fault : { calculatorType: type, url: null }
    return {
      ok: false,
      fault: {
        reason: fault.reason,
        ...wordsOf(fault, type, day),
        calculatorType: elsewhere.calculatorType,
        url: elsewhere.url,
      },
    }
  }
}

import type { PrefillFault } from '../qr-code/prefill-link.js'
import type { CalculatorType } from './calculator-data.js'

/** What a guest on a quay reads when a code fills in nothing. */
export interface FaultWords {
  reason: PrefillFault['reason']
  title: string
  explanation: string
  /** Where the code does open, if it opens anywhere */
  elsewhere: { url: string; calculatorType: CalculatorType } | null
}

/** @param day writes a date for the reader */
export function prefillFaultWords(
  fault: PrefillFault,
  opened: CalculatorType,
  day: (date: Date) => string,
): FaultWords {
  const words = (
    title: string,
    explanation: string,
    elsewhere: FaultWords['elsewhere'] = null,
  ) => ({
    reason: fault.reason,
    title,
    explanation,
    elsewhere,
  })
  switch (fault.reason) {
    case 'empty':
      return words(
        'This link is empty',
        'It carries no trip data. Scan the code again, with all of it in view.',
      )
    case 'too-long':
      return words(
        'This link is too long',
        'It is longer than any code of ours, so we did not read it. Scan the code again.',
      )
    case 'not-base64':
      return words(
        'This code is damaged',
        'Its link holds characters that no code of ours has (it is not valid Base64). Scan it again; if that does not help, ask for a new code.',
      )
    case 'not-our-data':
      return words(
        'This is not trip data',
        'We can read the link, but what it holds does not describe a trip for our calculators. Was it made somewhere else?',
      )
    case 'wrong-type':
      return words(
        'This code is for another calculator',
        `It holds data for the ${fault.calculatorType} calculator, but the link opens the ${opened} calculator.`,
        fault.url === null ? null : { url: fault.url, calculatorType: fault.calculatorType },
      )
    case 'edited':
      return words(
        'This code was changed',
        'Its data do not match its signature: something was edited after the code was made, so we do not use it. Ask for a new code.',
      )
    case 'not-yet-valid':
      return words(
        'This code is not valid yet',
        `It says it was made in the future, on ${day(fault.validFrom)}. Ask for a new code.`,
      )
    case 'expired':
      return words(
        'This code has expired',
        `Codes are valid for 30 days; this one ended on ${day(fault.expiredAt)}. Ask for a new code.`,
      )
  }
}

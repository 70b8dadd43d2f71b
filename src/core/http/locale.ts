import type { FastifyRequest } from 'fastify'
import { getNumberFormatter, type NumberFormatter } from '../formatting/number-formatter.js'
import { getFormatters, type Formatters } from '../formatting/portal-formatters.js'

const LANGUAGE_TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/

/** Returns the supported locale for a language tag, if any. */
function findSupportedLocale(tag: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag)[0]
  } catch {
    return undefined
  }
}

/** The first supported locale of Accept-Language; British English by default. */
function getBrowserLocale(acceptLanguage: string | undefined): string {
  const tags = (acceptLanguage ?? '')
    .slice(0, 200)
    .split(',')
    .map((range) => {
      const [tag = '', q = 'q=1'] = range.trim().split(/\s*;\s*/, 2)
      return { tag, weight: Number(q.replace('q=', '')) }
    })
    .filter(({ tag, weight }) => LANGUAGE_TAG.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight)
  for (const { tag } of tags) {
    // Plain `en` would mean US English, whose dates most of the world misreads.
    if (tag === 'en') return 'en-GB'
    const supported = findSupportedLocale(tag)
    if (supported !== undefined) return supported
  }
  return 'en-GB'
}

/**
 * Locale for the numbers and dates of pages, which are in English: the browser's if that is English
 * with English numbers, otherwise British English.
 */
export function getLocale(acceptLanguage: string | undefined): string {
  const locale = getBrowserLocale(acceptLanguage)
  const isEnglish = locale.startsWith('en-') && getNumberFormatter(locale).decimalSign === '.'
  return isEnglish ? locale : 'en-GB'
}

/**
 * The decimal separator that a user means in numbers such as `1,234`: the point that pages print;
 * `undefined` if the browser's language has the decimal comma.
 */
export const getDecimalSign = (acceptLanguage: string | undefined): '.' | undefined =>
  getNumberFormatter(getBrowserLocale(acceptLanguage)).decimalSign === '.' ? '.' : undefined

/** Formats the numbers of a page for the browser that requests it. */
export const getRequestNumbers = ({ headers }: Pick<FastifyRequest, 'headers'>): NumberFormatter =>
  getNumberFormatter(getLocale(headers['accept-language']))

/** Formatters for the numbers, money and dates of a page of the portal. */
export const getRequestFormatters = ({ headers, server }: FastifyRequest): Formatters =>
  getFormatters(getLocale(headers['accept-language']), server.config.TIME_ZONE)

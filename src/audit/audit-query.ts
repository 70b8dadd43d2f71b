import { Type, type Static } from '@sinclair/typebox'
import { parseDay, type DayCalendar } from '../core/formatting/day-calendar.js'
import { foldText } from '../core/formatting/text.js'
import { createValidators, type FieldError } from '../core/validation/field-errors.js'
import { stringEnum } from '../core/validation/formats.js'
import type { SqlValue } from '../database/database.js'
import { AUDIT_ACTION_NAMES, type AuditAction, type AuditRow } from './audit-entry.js'

const MAX_TEXT_LENGTH = 200

const date = (description: string) =>
  Type.String({
    format: 'date',
    'x-message': 'must be a date from 1900 to 2199, such as 2026-11-20',
    description,
  })

/** Filters of the audit log; an entry must match all of them. */
export const AuditFilters = Type.Object({
  action: Type.Optional(
    Type.Array(stringEnum<AuditAction>(AUDIT_ACTION_NAMES), {
      maxItems: AUDIT_ACTION_NAMES.length,
      description: 'Any of these; can be repeated',
    }),
  ),
  actor: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT_LENGTH,
      format: 'text',
      description: 'The email of an account, or an API key as shown in the entries',
    }),
  ),
  from: Type.Optional(date('On or after this day in TIME_ZONE')),
  to: Type.Optional(date('On or before this day in TIME_ZONE')),
  q: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT_LENGTH,
      format: 'text',
      description: 'Text to search for in actors, addresses and details',
    }),
  ),
})
export type AuditFilters = Static<typeof AuditFilters>

const MAX_AUDIT_PAGE_SIZE = 100
export const AUDIT_PAGE_SIZE = 50

const Before = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only entries before this position: `next` of the previous page',
  }),
)

/** The query parameters of a page of the audit log. */
export const AuditQuery = Type.Object(
  {
    ...AuditFilters.properties,
    before: Before,
    pageSize: Type.Integer({
      minimum: 1,
      maximum: MAX_AUDIT_PAGE_SIZE,
      default: AUDIT_PAGE_SIZE,
    }),
  },
  { additionalProperties: false },
)
export type AuditQuery = Static<typeof AuditQuery>

/** Builds the SQL condition for the filters that do not concern text, with its values. */
export function buildAuditCondition(
  { action = [], from, to }: AuditFilters,
  calendar: DayCalendar,
): { sql: string; values: SqlValue[] } {
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (sql: string, ...added: SqlValue[]) => {
    conditions.push(sql)
    values.push(...added)
  }
  if (action.length > 0) add(`action IN (${action.map(() => '?').join(', ')})`, ...action)
  if (from !== undefined) add('at >= ?', calendar.startOf(parseDay(from)))
  if (to !== undefined) add('at < ?', calendar.startOf(parseDay(to) + 1))
  return { sql: conditions.length === 0 ? '1 = 1' : conditions.join(' AND '), values }
}

/**
 * Creates the check for the filters that concern text; `null` if there are none. It ignores case and
 * accents in every script, which neither database does.
 */
export function createTextMatcher({
  actor,
  q,
}: AuditFilters): ((row: Pick<AuditRow, 'actor' | 'address' | 'details'>) => boolean) | null {
  if (actor === undefined && q === undefined) return null
  const [foldedActor, foldedText] = [actor, q].map((text) => foldText(text?.trim() ?? ''))
  return (row) =>
    (actor === undefined || foldText(row.actor) === foldedActor) &&
    [row.actor, row.address ?? '', row.details].some((text) =>
      foldText(text).includes(foldedText ?? ''),
    )
}

/** Finds errors in the combination of filters. Each filter must already be valid on its own. */
export const findAuditFilterErrors = ({ from, to }: AuditFilters): FieldError[] =>
  from !== undefined && to !== undefined && to < from
    ? [{ path: 'to', message: 'must not be before from' }]
    : []

const validate = createValidators({ formats: {}, keywords: [] }).converter<AuditQuery>(AuditQuery)

/** Parses the query parameters of the page. Ignores blank and invalid parameters. */
export function parseAuditQuery(parameters: Record<string, unknown>): {
  query: AuditQuery
  /** Names of the parameters that were ignored */
  ignored: string[]
} {
  const values = Object.fromEntries(
    Object.entries(parameters).filter(
      ([name, value]) => Object.hasOwn(AuditQuery.properties, name) && value !== '',
    ),
  )
  const ignored: string[] = []
  while (!validate(values)) {
    const name = validate.errors?.[0]?.instancePath.split('/')[1] ?? ''
    ignored.push(name)
    if (!Reflect.deleteProperty(values, name) || name === '') break
  }
  const query = values as AuditQuery
  if (findAuditFilterErrors(query).length > 0) {
    ignored.push('to')
    delete query.to
  }
  return { query, ignored }
}

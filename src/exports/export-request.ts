import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/schema-types.js'
import { OrderFilters, OrderSortSchema, type OrderSort } from '../orders/order-filters.js'

export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const
type ExportFormat = keyof typeof CONTENT_TYPES

export interface ExportRequest {
  format: ExportFormat
  filters: OrderFilters
  sort: OrderSort
}

/** Filters and sort of the order list plus the format; exports are not paginated. */
export const ExportQuery = Type.Object(
  {
    ...OrderFilters.properties,
    sort: OrderSortSchema,
    format: stringEnum<ExportFormat>(['csv', 'xlsx'], {
      default: 'csv',
      description: 'File format',
    }),
  },
  { additionalProperties: false },
)
export type ExportQuery = Static<typeof ExportQuery>

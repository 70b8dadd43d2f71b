import { Type, type Static, type TSchema } from '@sinclair/typebox'

/** Schema for one of several strings; reports one error, not one per literal as a union does. */
export const stringEnum = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })

/** Schema that also accepts `null`. */
export const nullable = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [schema.type as string, 'null'],
    ...(Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {}),
  })

import fc from 'fast-check'

/** Becomes an element unless it is escaped, both in text and in an attribute. */
export const MARKUP = `"'><pwned x="'`

/** Texts that break parsers: numbers, dates, property names, SQL, markup, control characters. */
export const TEXTS = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '1e400',
  '-1e400',
  '1e-400',
  '0x10',
  '1_000',
  '１２',
  '9007199254740993',
  '99999999999999999999999999',
  'NaN',
  'Infinity',
  '-Infinity',
  'null',
  'true',
  '[]',
  '{}',
  '[1,2',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31T23:59:60Z',
  '+275760-09-13T00:00:00Z',
  '2026-11-20T09:30:00+99:99',
  "' OR 1=1 --",
  "'; DROP TABLE orders; --",
  '" OR ""="',
  'a* NEAR(b) AND ^c:',
  '%_\\%',
  MARKUP,
  '{{7*7}} ${7*7} <%= it %>',
  '=1+1',
  '\r\nset-cookie: pwned=1',
  'a\tb\u2028c\u2029d',
  '\u001b[31mred\u009b31m',
  '\u0000',
  'a\u0000b',
  '\u202eabc',
  '\ufeff',
  '\ud800',
  'x\udfff',
  '\ufffe',
  '👩‍👩‍👧',
  'ﷺ'.repeat(100),
  'a\u0301'.repeat(200),
  'x'.repeat(300),
  'x'.repeat(70_000),
  '../../../etc/passwd',
  '//evil.example',
  '1:1',
  '99999999999:99999999999',
] as const

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.double().map(String),
  fc.bigInt().map(String),
)

/** Unexpected text. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  anyText,
)

/** Unexpected text as a header value: latin1, without control characters. */
export const headerText: fc.Arbitrary<string> = hostileText.map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .slice(0, 4_000)
    .trim(),
)

const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}0${close.repeat(depth)}`

const FRAGMENTS = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '0.1',
  '1e400',
  '-1e400',
  '1e-400',
  '5e-324',
  '1.7976931348623157e308',
  '9007199254740993',
  '1000000000000.5',
  '9'.repeat(400),
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '.5',
  '0x10',
  "'x'",
  '"\\ud800"',
  '"\\u0000"',
  '"\\u202e"',
  '"\\x41"',
  '"unterminated',
  '[]',
  '[null]',
  '{}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '{"toString":1,"valueOf":1,"toJSON":1,"then":1,"length":1}',
  '{"a":1,"a":2}',
  nested(2_000, '[', ']'),
  nested(2_000, '{"a":', '}'),
  `[${'1,'.repeat(4_000)}1]`,
  `{${Array.from({ length: 800 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
  '/* comment */ 1',
  '1 2',
  '',
] as const

/** Text in place of a JSON value, valid or not. */
export const jsonFragment: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...FRAGMENTS) },
  { weight: 2, arbitrary: hostileText.map((text) => JSON.stringify(text)) },
  fc.json({ maxDepth: 3 }),
  fc.double().map(String),
)

/** Read-only properties of orders, and keys that affect prototypes or paths. */
export const MEMBER_NAMES = [
  'id',
  'version',
  'orderNumber',
  'createdAt',
  'updatedAt',
  'cancelledAt',
  'deletedAt',
  'history',
  'by',
  'extra',
  '',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'then',
  'a/b~c',
  MARKUP,
] as const

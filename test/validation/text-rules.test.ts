import t from 'tap'
import { findTextError, findTextLineError } from '../../src/validation/text-rules.js'
import { postJson, startApp } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'

const NOTHING = 'must contain a visible character'
const BROKEN = 'must not contain invalid characters'
const CONTROL = 'must not contain control characters'
const DIRECTION = 'must not contain characters that change the text direction'

/** A text by its code points, as most of these cannot be shown. */
const codes = (text: string): string =>
  Array.from(text, (character) => character.codePointAt(0)?.toString(16)).join(' ')

t.test('a line must contain a visible character', async (t) => {
  for (const text of [
    ' ',
    '\u00a0\u3000',
    '\ufeff',
    '\u200b',
    '\u200c\u200d',
    '\u00ad',
    '\u3164\u115f',
    '\u2800',
    '\ufff9',
    '\u{e0001}',
    '\u{13430}',
    '\u0301',
    '\ufe0f',
  ]) {
    t.equal(findTextLineError(text), NOTHING, codes(text))
  }
})

t.test('rejects forbidden characters in single-line and multi-line text', async (t) => {
  for (const [characters, fault] of [
    [['\u0000', '\u001b', '\u007f', '\u0085'], CONTROL],
    [['\u202a', '\u202e', '\u2066', '\u2069'], DIRECTION],
    [['\uffff', '\ufffe', '\ufdd0', '\ufdef', '\u{1fffe}', '\u{10ffff}'], BROKEN],
    [['\ud800', '\udc00'], BROKEN],
  ] as const) {
    for (const character of characters) {
      for (const text of [character, `Ann ${character} Example`]) {
        t.equal(findTextError(text), fault, codes(text))
        t.equal(findTextLineError(text), fault)
      }
    }
  }
})

t.test('a line must not contain line breaks', async (t) => {
  for (const text of ['a\nb', 'a\r\nb', 'a\u2028b', 'a\u2029b', 'a\tb']) {
    t.equal(findTextLineError(text), 'must be a single line without tabs', codes(text))
    t.equal(findTextError(text), null, 'any number in a longer text')
  }
})

t.test('accepts the joiners and marks that scripts need', async (t) => {
  for (const text of [
    'می\u200cخواهم',
    'ක\u0dca\u200dෂ',
    '👩‍✈️🏴‍☠️ 1️⃣',
    'مرحبا\u200f',
    '\ufeffbom',
    'ប្រទេស\u200bកម្ពុជា',
    'e\u0301',
    '-',
    '0',
    '海丸',
    '\u{20000}\u{1f6a2}',
  ]) {
    t.equal(findTextLineError(text), null, text)
    t.equal(findTextError(text), null)
  }
  t.equal(findTextError(''), null)
})

t.test('explains to guests why the name of a vessel is invalid', async (t) => {
  const { url } = await startApp(t)
  for (const [name, message] of [
    ['\uffff', BROKEN],
    ['\u200b', NOTHING],
    ['Ever\u202eGiven', DIRECTION],
  ] as const) {
    const { status, body } = await postJson(`${url}/api/qr-code/generate`, {
      ...TYPICAL_CALCULATIONS.fuel,
      vessel: { name },
    })
    t.match({ status, body }, { status: 422, body: { errors: [{ path: 'vessel.name', message }] } })
  }
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'

const text = readFileSync(join(projectRoot, 'docs/asvs.md'), 'utf8')

const TESTS = new Set(
  readdirSync(join(projectRoot, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => path.replace(/(\.slow|\.long)?\.test\.ts$/, '')),
)

const splitCells = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The rows of the tables below the headings of chapters, such as “V6 Authentication”. */
const rows = text
  .split(/^## /m)
  .filter((section) => /^V\d+ /.test(section))
  .flatMap((section) => {
    const [chapter = ''] = /\d+/.exec(section) ?? []
    return section
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map((line) => {
        const [numbers = '', how = '', evidence = ''] = splitCells(line)
        return { chapter, numbers: numbers.match(/\d+\.\d+\.\d+/g) ?? [], how, evidence }
      })
  })

t.test('every requirement is in one row, of its own chapter', async (t) => {
  t.ok(rows.length > 100)
  t.same(
    rows.filter(({ numbers }) => numbers.length === 0),
    [],
  )
  const wrong = rows.flatMap(({ chapter, numbers }) =>
    numbers.filter((number) => !number.startsWith(`${chapter}.`)),
  )
  t.same(wrong, [])
  const all = rows.flatMap(({ numbers }) => numbers)
  const repeated = all.filter((number, index) => all.indexOf(number) !== index)
  t.same(repeated, [])
})

t.test('every row has evidence or a reason, and its tests exist', async (t) => {
  const named = rows.flatMap(({ evidence }) =>
    [...evidence.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
  )
  t.ok(named.length > 50)
  t.same(
    named.filter((path) => !TESTS.has(path)),
    [],
  )
  t.same(
    rows.filter(({ evidence }) => evidence === ''),
    [],
  )
})

t.test('the summary lists what is not met or only in part', async (t) => {
  const [summary = ''] = text.split(/^## V/m)
  const listed = (word: string): string[] =>
    [...summary.matchAll(new RegExp(`^- \\*\\*([\\d., ]+)\\*\\* ${word}:`, 'gm'))].flatMap(
      ([, numbers = '']) => numbers.match(/\d+\.\d+\.\d+/g) ?? [],
    )
  for (const [word, mark] of [
    ['not met', '**Not met**'],
    ['partly met', '**Partly met**'],
  ] as const) {
    const marked = rows.filter(({ how }) => how.startsWith(mark)).flatMap(({ numbers }) => numbers)
    t.same(listed(word).toSorted(), marked.toSorted(), word)
  }
})

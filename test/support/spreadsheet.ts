import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { temporaryFolder } from './app.js'

const run = promisify(execFile)

/** Finds a Python with openpyxl; `null` if there is none. Debian's may not be the first in PATH. */
export const findPython = (): string | null =>
  ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', 'import openpyxl']).status === 0,
  ) ?? null

const READ_CSV = `
import csv, json, sys
with open(sys.argv[1], encoding='utf-8-sig', newline='') as file:
    json.dump(list(csv.reader(file, strict=True)), sys.stdout)
`

const READ_WORKBOOK = `
import datetime, json, sys
import openpyxl

def cell(c):
    value = c.value
    if isinstance(value, datetime.datetime):
        value = value.isoformat(timespec='milliseconds')
    tint = c.fill.fgColor.rgb if c.fill.fill_type == 'solid' else None
    return {'value': value, 'type': c.data_type, 'format': c.number_format, 'tint': tint}

workbook = openpyxl.load_workbook(sys.argv[1])
json.dump({
    'creator': workbook.properties.creator,
    'created': workbook.properties.created.isoformat(),
    'styles': len(workbook._cell_styles),
    'sheets': [{
        'title': sheet.title,
        'frozen': sheet.freeze_panes,
        'filter': sheet.auto_filter.ref,
        'widths': [d.width for d in sheet.column_dimensions.values() for i in range(d.min, d.max + 1)],
        'header': [{
            'value': c.value, 'bold': c.font.b, 'color': c.font.color.rgb,
            'tint': c.fill.fgColor.rgb,
        } for c in sheet[1]],
        'rows': [[cell(c) for c in row] for row in sheet.iter_rows(min_row=2)],
    } for sheet in workbook.worksheets],
}, sys.stdout)
`

export interface WorkbookCell {
  value: string | number | null
  /** s text, n number or empty, d date, f formula */
  type: string
  format: string
  tint: string | null
}

export interface WorkbookContent {
  creator: string
  created: string
  /** Number of different cell styles */
  styles: number
  sheets: {
    title: string
    frozen: string | null
    filter: string | null
    widths: number[]
    header: { value: string; bold: boolean; color: string; tint: string }[]
    rows: WorkbookCell[][]
  }[]
}

let python: string | null = null

async function runPython(t: Test, script: string, bytes: Buffer): Promise<unknown> {
  python ??= findPython()
  if (python === null) throw new Error('Python with openpyxl not found; run npm test to install it')
  const file = join(temporaryFolder(t), 'file.xlsx')
  writeFileSync(file, bytes)
  const { stdout } = await run(python, ['-c', script, file], { maxBuffer: 2 ** 28 })
  return JSON.parse(stdout)
}

/** Reads the rows of a CSV file, including the header, with Python's csv module. */
export const readCsv = async (t: Test, bytes: Buffer): Promise<string[][]> =>
  (await runPython(t, READ_CSV, bytes)) as string[][]

/** Reads an Excel workbook with openpyxl. */
export const readWorkbook = async (t: Test, bytes: Buffer): Promise<WorkbookContent> =>
  (await runPython(t, READ_WORKBOOK, bytes)) as WorkbookContent

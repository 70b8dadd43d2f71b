import { readFileSync } from 'node:fs'

/*
 * Loaded first by a process (`--import`), it sets its clock: CLOCK_FILE says by how many
 * milliseconds, and may be changed at any time. What measures durations is left alone, as an
 * operating system does.
 */
const { CLOCK_FILE = '' } = process.env
const RealDate = Date

const now = (): number => RealDate.now() + Number(readFileSync(CLOCK_FILE, 'utf8'))

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, as) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
})

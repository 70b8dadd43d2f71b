import { readFileSync } from 'node:fs'

/*
 * Loaded with `--import`: shifts the clock of a process by the milliseconds in CLOCK_FILE, which
 * can change at any time. Monotonic clocks are unaffected, as in an operating system.
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

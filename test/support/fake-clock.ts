import { readFileSync } from 'node:fs'

/*
 * Loaded with `--import`, this module shifts the clock of the process by the milliseconds in the
 * file CLOCK_FILE, which may change at any time. Monotonic clocks are not affected.
 */
const { CLOCK_FILE = '' } = process.env
const RealDate = Date

const now = (): number => RealDate.now() + Number(readFileSync(CLOCK_FILE, 'utf8'))

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length === 0 ? [now()] : parameters, newTarget) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
})

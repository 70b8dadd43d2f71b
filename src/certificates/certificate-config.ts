import { readFileSync } from 'node:fs'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  CERTIFICATE_FONT: optional('TTF or OTF file for certificates, for scripts that their fonts lack'),
}

/** The first bytes of TrueType and OpenType files. Collections and web fonts start differently. */
const FONT_SIGNATURES = ['00010000', '4f54544f', '74727565']

function isFontFile(path: string): boolean {
  try {
    return FONT_SIGNATURES.includes(readFileSync(path).subarray(0, 4).toString('hex'))
  } catch {
    return false
  }
}

const rules: readonly ConfigRule[] = [
  ['CERTIFICATE_FONT', isFontFile, 'must be the path of a TTF or OTF file'],
]

/** Certificates. */
export const certificateConfig = { variables, rules } satisfies ConfigPart

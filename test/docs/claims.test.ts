import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'

// EU Directive 2024/825 forbids claims, based on offsetting, that a product has a neutral, reduced
// or positive impact. No text may say that a trip or its emissions are offset, neutral,
// compensated or reduced, in any language.

/** What may not be written, and an example of each, by language. */
const FORBIDDEN: Record<string, { pattern: RegExp; examples: string[] }> = {
  en: {
    pattern: new RegExp(
      [
        String.raw`\b(carbon|climate|co.?2e?|emission)s?[ -](neutral|positive|free|compensated|negative)`,
        String.raw`\b(net|zero)[ -](zero|carbon|emissions?)\b`,
        String.raw`\bneutrali[sz]`,
        String.raw`emissions?\b[^.<>]{0,40}\b(offset|compensated|cancelled out|reduced)\b(?!-)`,
        String.raw`\boffset(s|ting)? (this|your|the|a|their) (trip|tonne|emissions|voyage|mass)`,
        String.raw`\bhas offset\b|\bto (be )?offset\b|\b(buy|order|buying) (the|an) offset\b(?! order)`,
        String.raw`\boffset (for|this)\b|\bcarbon offset certificate`,
        String.raw`\bverified by\b|\bas ISO 14083 requires|\bfollowing ISO 14083`,
      ].join('|'),
      'i',
    ),
    examples: [
      'Your trip’s emissions have been offset.',
      'has offset greenhouse gas emissions of',
      'Offset this trip',
      'Offset for $41.49',
      'Carbon offset certificate',
      'Verified by Harbour Example',
      'a carbon-neutral trip',
      'as ISO 14083 requires',
      'your emissions will be reduced',
    ],
  },
  de: {
    pattern: /(klima|co₂|co2)-?\s?(neutral|positiv|kompensiert|ausgeglichen)|emissionsfrei/i,
    examples: ['Ihre Fahrt ist klimaneutral', 'CO₂-kompensiert'],
  },
  fr: {
    pattern: /neutres? (en carbone|pour le climat)|neutralité carbone|zéro carbone|compensée?s?\b/i,
    examples: ['un trajet neutre en carbone', 'émissions compensées'],
  },
  it: {
    pattern: /neutral[ei] dal punto di vista climatico|impatto zero|compensat[oaie]\b/i,
    examples: ['un viaggio a impatto zero', 'emissioni compensate'],
  },
  es: {
    pattern: /neutr[oa]s? (para el clima|en carbono|en co₂)|huella cero|compensad[oa]s?\b/i,
    examples: ['un viaje neutro en carbono', 'emisiones compensadas'],
  },
  nl: {
    pattern: /(klimaat|co₂-|co2-)neutraal|gecompenseerd/i,
    examples: ['klimaatneutraal varen', 'CO₂-gecompenseerd'],
  },
  el: {
    pattern: /κλιματικά ουδέτερ|ουδέτερ\S* ως προς τον άνθρακα|αντισταθμι(σ|ζ)|μηδενικό αποτύπωμα/i,
    examples: ['κλιματικά ουδέτερο ταξίδι', 'αντισταθμισμένο'],
  },
  hr: {
    pattern: /(klimatski|ugljično) neutral|neutralizira|kompenzira|nulti otisak/i,
    examples: ['klimatski neutralno putovanje', 'neutralizirano'],
  },
}

/** Texts that name the provider's object or deny the claim. */
const ALLOWED = /does not offset|not offset/i

const isText = (path: string): boolean => /\.(ts|js|eta|json|md|html|txt|svg)$/.test(path)

function listFiles(path: string): string[] {
  const full = join(projectRoot, path)
  if (!statSync(full).isDirectory()) return [path]
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => isText(name) && statSync(join(projectRoot, name)).isFile())
}

/** The lines of a file that make a forbidden claim. */
function findClaims(path: string): string[] {
  const lines = readFileSync(join(projectRoot, path), 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (ALLOWED.test(line)) return []
    const text = line.replaceAll(/[‑­]/g, '-')
    return Object.values(FORBIDDEN)
      .filter(({ pattern }) => pattern.test(text))
      .map(() => `${path}:${index + 1}: ${line.trim().slice(0, 100)}`)
  })
}

t.test('the patterns recognize forbidden claims in every language', async (t) => {
  for (const [language, { pattern, examples }] of Object.entries(FORBIDDEN)) {
    for (const example of examples) t.match(example, pattern, language)
  }
})

t.test('no page, email, PDF, API text or document claims that a trip is offset', async (t) => {
  const files = ['src', 'templates', 'static', 'docs', 'examples', 'README.md', '.env.example']
  t.same(files.flatMap(listFiles).flatMap(findClaims), [])
})

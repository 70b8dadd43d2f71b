const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** A code sample of the API reference. */
export interface Sample {
  operationId: string
  language: string
  code: string
}

const decode = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)

/** Reads the code samples of operations from the HTML of the reference. */
export function readSamples(html: string): Sample[] {
  return html
    .split('data-operation="')
    .slice(1)
    .flatMap((section) => {
      const operationId = section.slice(0, section.indexOf('"'))
      const [end = section] = section.split('</section>')
      const found = end.matchAll(/data-language="(\w+)"><code>([^]*?)<\/code>/g)
      return [...found].map(([, language = '', code = '']) => ({
        operationId,
        language,
        code: decode(code),
      }))
    })
}

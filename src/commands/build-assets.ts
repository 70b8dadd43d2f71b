import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { assetManifest, assetsFolder } from '../plugins/assets.js'
import { projectRoot } from '../config/project-root.js'

/** Browser packages by the name used in templates. */
const PACKAGES = {
  'htmx.js': 'htmx.org/dist/htmx.min.js',
  'apexcharts.js': 'apexcharts/dist/apexcharts.min.js',
  'alpine.js': '@alpinejs/csp/dist/cdn.min.js',
}

const sources = new Map([
  ...readdirSync(join(projectRoot, 'static')).map(
    (name) => [name, join(projectRoot, 'static', name)] as const,
  ),
  ...Object.entries(PACKAGES).map(
    ([name, path]) => [name, join(projectRoot, 'node_modules', path)] as const,
  ),
])

rmSync(assetsFolder, { recursive: true, force: true })
mkdirSync(assetsFolder, { recursive: true })
const manifest: Record<string, string> = {}
for (const [name, path] of sources) {
  const content = readFileSync(path)
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  const extension = extname(name)
  const file = `${basename(name, extension)}.${hash}${extension}`
  writeFileSync(join(assetsFolder, file), content)
  if (/\.(?:css|js|svg|json|webmanifest)$/.test(name)) {
    writeFileSync(
      join(assetsFolder, `${file}.br`),
      brotliCompressSync(content, {
        params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
      }),
    )
    writeFileSync(join(assetsFolder, `${file}.gz`), gzipSync(content, { level: 9 }))
  }
  manifest[name] = file
}
writeFileSync(assetManifest, `${JSON.stringify(manifest, null, 2)}\n`)

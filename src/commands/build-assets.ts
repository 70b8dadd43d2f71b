import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join, parse } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { projectRoot } from '../core/config/config-part.js'
import { assetManifest, assetsFolder } from '../core/html/static-files.js'

/** Scripts and style sheets in `static/`, by the name used in templates. Imports are bundled. */
const BUNDLES = {
  'site.css': 'styles/site.css',
  'portal.css': 'portal/portal.css',
  'calculator.js': 'calculator/live-form.js',
  'copy.js': 'qr-codes/copy.js',
  'passkeys.js': 'accounts/passkeys.js',
  'docs.css': 'docs/docs.css',
  'docs.js': 'docs/docs.js',
  'messages.js': 'portal/messages.js',
  'progress.js': 'portal/progress.js',
  'dashboard.js': 'dashboard/dashboard.js',
  'orders.js': 'orders/list.js',
  'order.js': 'orders/order.js',
}

/** Files that are served unchanged. */
const FILES = {
  'icon.svg': 'static/icon.svg',
  'htmx.js': 'node_modules/htmx.org/dist/htmx.min.js',
  'apexcharts.js': 'node_modules/apexcharts/dist/apexcharts.min.js',
  'alpine.js': 'node_modules/@alpinejs/csp/dist/cdn.min.js',
}

function bundle(path: string): Uint8Array {
  const { outputFiles } = buildSync({
    entryPoints: [join(projectRoot, 'static', path)],
    bundle: true,
    minify: true,
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    format: 'iife',
    write: false,
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`no output for ${path}`)
  return file.contents
}

/** Writes a file under a content-hashed name, and compressed copies. Returns the name. */
function writeAsset(name: string, content: Uint8Array): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  const file = `${parse(name).name}.${hash}${extname(name)}`
  const path = join(assetsFolder, file)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(path, content)
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }))
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
  return file
}

rmSync(assetsFolder, { recursive: true, force: true })
mkdirSync(assetsFolder, { recursive: true })
const manifest: Record<string, string> = {}
for (const [name, path] of Object.entries(BUNDLES)) manifest[name] = writeAsset(name, bundle(path))
for (const [name, path] of Object.entries(FILES)) {
  manifest[name] = writeAsset(name, readFileSync(join(projectRoot, path)))
}
writeFileSync(assetManifest, `${JSON.stringify(manifest, null, 2)}\n`)

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findBrowser } from './browser.js'
import { installPostgres } from './nocodb-tools.js'
import { findArabicFont, findCjkFont, hasPoppler } from './pdf.js'
import { hasPgBouncer } from './pgbouncer.js'
import { findDebianPostgres } from './postgres.js'
import { findPython } from './spreadsheet.js'

function run(command: string, ...args: string[]): boolean {
  console.log(`$ ${command} ${args.join(' ')}`)
  return spawnSync(command, args, { stdio: 'inherit' }).status === 0
}

/** Installs Debian packages including the libraries they need; requires root. */
function installFromDebian(...packages: string[]): boolean {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0
  return (
    isDebian &&
    run('apt-get', 'update', '-qq') &&
    run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages)
  )
}

function installFromPlaywright(): boolean {
  const packageJson = createRequire(import.meta.url).resolve('playwright-core/package.json')
  return run(process.execPath, join(dirname(packageJson), 'cli.js'), 'install', 'chromium')
}

if (findBrowser() === null) {
  console.log('Installing Chromium for the browser tests.')
  if (!installFromDebian('chromium', 'fonts-dejavu-core')) installFromPlaywright()
}
console.log(`Browser: ${findBrowser() ?? 'not found; the browser tests will fail'}`)

installPostgres()
if (findDebianPostgres() === null || !hasPgBouncer()) {
  console.log('Installing PgBouncer and pg_dump.')
  installFromDebian('postgresql', 'pgbouncer')
}
console.log(`pg_dump: ${findDebianPostgres() ?? 'not found; its test is skipped'}`)
console.log(`PgBouncer: ${hasPgBouncer() ? 'found' : 'not found; its test is skipped'}`)

if (!hasPoppler() || findCjkFont() === null || findArabicFont() === null) {
  console.log('Installing poppler-utils and fonts for the tests of certificates.')
  installFromDebian('poppler-utils', 'fonts-droid-fallback', 'fonts-dejavu-core')
}
console.log(`poppler-utils: ${hasPoppler() ? 'found' : 'not found; its tests are skipped'}`)

if (findPython() === null) {
  console.log('Installing Python with openpyxl for the export tests.')
  if (!installFromDebian('python3', 'python3-openpyxl')) {
    run('python3', '-m', 'pip', 'install', '--user', 'openpyxl')
  }
}
console.log(`Python: ${findPython() ?? 'not found; the export tests will fail'}`)

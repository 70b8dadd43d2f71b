import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findBrowser } from './browser.js'
import { installPython } from './install-python.js'

function run(command: string, ...parameters: string[]): boolean {
  console.log(`$ ${command} ${parameters.join(' ')}`)
  return spawnSync(command, parameters, { stdio: 'inherit' }).status === 0
}

/** Debian's own Chromium, which brings every library it needs; takes root. */
function installFromDebian(): boolean {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0
  return (
    isDebian &&
    run('apt-get', 'update', '-qq') &&
    run(
      'apt-get',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      'chromium',
      'fonts-dejavu-core',
    )
  )
}

function installFromPlaywright(): boolean {
  const packageJson = createRequire(import.meta.url).resolve('playwright-core/package.json')
  return run(process.execPath, join(dirname(packageJson), 'cli.js'), 'install', 'chromium')
}

if (findBrowser() === null) {
  console.log('The browser tests need Chromium, and there is none here: installing it.')
  if (!installFromDebian()) installFromPlaywright()
}
console.log(`Browser: ${findBrowser() ?? 'none; the browser tests will fail'}`)

installPython()

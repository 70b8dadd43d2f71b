import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPython } from './spreadsheet.js'

const PACKAGES = ['python3', 'python3-openpyxl']

/** Sees to it that there is a Python with openpyxl, which reads the files that orders go into. */
export function installPython(): void {
  if (findPython() === null) {
    console.log('The export tests need Python with openpyxl, and there is none: installing it.')
    if (existsSync('/etc/debian_version') && process.getuid?.() === 0) {
      spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
      spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], {
        stdio: 'inherit',
      })
    } else {
      spawnSync('python3', ['-m', 'pip', 'install', '--user', 'openpyxl'], { stdio: 'inherit' })
    }
  }
  console.log(`Python: ${findPython() ?? 'none; the export tests will fail'}`)
}

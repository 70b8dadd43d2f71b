import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'

t.test('the architecture names only files and folders that exist', async (t) => {
  const text = readFileSync(join(projectRoot, 'docs/architecture.md'), 'utf8')
  const files = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
  const names = new Set(files.map((path) => basename(path)))
  const named = [...text.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !path.includes('tides'))
  const exists = (path: string): boolean =>
    ['src', '.'].some((folder) => existsSync(join(projectRoot, folder, path))) || names.has(path)
  t.ok(named.length > 40)
  t.same(
    named.filter((path) => !exists(path)),
    [],
  )
})

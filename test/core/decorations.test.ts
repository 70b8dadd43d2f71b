import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'

const SRC = join(projectRoot, 'src')
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file.includes('/'))
  .map((file) => ({
    file,
    folder: file.replace(/\/.*/, ''),
    text: readFileSync(join(SRC, file), 'utf8'),
  }))

/** The folders of `src` in the order of dependency, as the documentation lists them. */
const [layout = ''] = /src\/\n[^]*?templates\//.exec(
  readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8'),
) ?? ['']
const folders = [...layout.matchAll(/^ {2}([\w-]+)\/ /gm)].map(([, name = '']) => name)

/** The folder that declares each property that a feature adds to Fastify's objects. */
const owners = new Map<string, string>()
for (const { folder, text } of files) {
  for (const [, block = ''] of text.matchAll(/interface Fastify\w+ \{([^]*?)\n {2}\}/g)) {
    for (const [, name = ''] of block.matchAll(/^ {4}(?:readonly )?(\w+)\??[(:]/gm)) {
      owners.set(name, folder)
    }
  }
}

/** A folder that is not listed comes last. */
const getPlace = (folder: string): number =>
  folders.includes(folder) ? folders.indexOf(folder) : folders.length

t.test('the documentation lists no folder that is gone', async (t) => {
  t.same(
    folders.filter((folder) => files.every((file) => file.folder !== folder)),
    [],
  )
})

t.test('a feature uses no service of a later one', async (t) => {
  t.equal(owners.get('orders'), 'orders')
  for (const { file, folder, text } of files) {
    const direct = [...text.matchAll(/\b(?:app|scope|request|reply)\.(\w+)/g)]
    const destructured = [...text.matchAll(/\{([^{}]*)\} = (?:app|scope|request|reply)\b/g)]
    const used = [
      ...direct.map(([, name = '']) => name),
      ...destructured.flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
    ].map((name) => name.replace(/:.*/, ''))
    const later = [...new Set(used)].filter(
      (name) => owners.has(name) && getPlace(owners.get(name) ?? '') > getPlace(folder),
    )
    t.same(later, [], file)
  }
})

import { writeFileSync } from 'node:fs'
import { LICENCES_FILE, licencesList } from './licences.js'

// What `npm run licences` runs.
writeFileSync(LICENCES_FILE, licencesList())

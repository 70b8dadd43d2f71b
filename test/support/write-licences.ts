import { writeFileSync } from 'node:fs'
import { LICENCES_FILE, renderLicenceList } from './licences.js'

// What `npm run licences` runs.
writeFileSync(LICENCES_FILE, renderLicenceList())

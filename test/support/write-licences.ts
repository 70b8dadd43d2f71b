import { writeFileSync } from 'node:fs'
import { LICENCES_FILE, renderLicenceList } from './licences.js'

writeFileSync(LICENCES_FILE, renderLicenceList())

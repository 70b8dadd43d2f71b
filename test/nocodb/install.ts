import { installNocoDb } from '../support/nocodb-tools.js'

installNocoDb()

import { installNocoDb, installPostgres } from '../support/nocodb-tools.js'

installNocoDb()
installPostgres()

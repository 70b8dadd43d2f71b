import { existsSync } from 'node:fs'
import { startServer } from './start-server.js'

// The environment wins over the file, so that a platform's settings always hold.
if (existsSync('.env')) process.loadEnvFile('.env')

await startServer(process.env)

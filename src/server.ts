import { existsSync } from 'node:fs'
import { startServer } from './start-server.js'

// Environment variables take precedence over the file.
if (existsSync('.env')) process.loadEnvFile('.env')

await startServer(process.env)

import { existsSync } from 'node:fs'
import { serve } from './serve.js'

// The environment wins over the file, so that a platform's settings always hold.
if (existsSync('.env')) process.loadEnvFile('.env')

await serve(process.env)

import { join } from 'node:path'
import { projectRoot } from '../../src/core/config/config-part.js'

/** The path of a built program, such as `server.js`. */
export const distPath = (...path: string[]): string => join(projectRoot, 'dist', ...path)

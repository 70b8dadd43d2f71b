import { join } from 'node:path'
import { projectRoot } from '../../src/config/project-root.js'

/** A program as it is shipped: `server.js`, or one of `commands/`. */
export const distPath = (...path: string[]): string => join(projectRoot, 'dist', ...path)

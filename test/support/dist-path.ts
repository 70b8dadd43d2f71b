import { join } from 'node:path'
import { projectRoot } from '../../src/core/config/project-root.js'

/** The path of a built program, such as `server.js`. */
export const distPath = (...path: string[]): string => join(projectRoot, 'dist', ...path)

import t from 'tap'

/** Runs work after the last test of this process; `t.teardown` of a file runs after the file. */
export const teardownProcess = t.teardown.bind(t)

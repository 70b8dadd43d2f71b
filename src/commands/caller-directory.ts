/** In which folder a command was called: npm runs it in the project's, and tells the other. */
export function callerDirectory(command: string): string {
  const { npm_lifecycle_event: script, INIT_CWD } = process.env
  return (script === command ? INIT_CWD : undefined) ?? process.cwd()
}

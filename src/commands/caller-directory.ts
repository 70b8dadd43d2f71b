/** The directory from which a command was called; npm runs scripts in the project directory. */
export function callerDirectory(command: string): string {
  const { npm_lifecycle_event: script, INIT_CWD } = process.env
  return (script === command ? INIT_CWD : undefined) ?? process.cwd()
}

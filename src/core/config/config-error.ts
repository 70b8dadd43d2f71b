/** The configuration is invalid; `message` lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(problems: readonly string[]) {
    const lines = problems.map((problem) => `  ${problem}`)
    super(['Clearwake cannot start with this configuration:', ...lines].join('\n'))
  }
}

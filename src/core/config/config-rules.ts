/** A rule for the raw text of a variable. `description` completes the sentence "NAME …". */
export type ConfigRule = readonly [
  name: string,
  isValid: (text: string) => boolean,
  description: string,
]

/** Checks the variables that are set; returns an error for each broken rule. */
export const checkRules = (
  environment: NodeJS.ProcessEnv,
  rules: readonly ConfigRule[],
): string[] =>
  rules.flatMap(([name, isValid, description]) => {
    const text = environment[name]
    return text === undefined || isValid(text) ? [] : [`${name} ${description}`]
  })

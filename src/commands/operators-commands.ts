/** Operators' commands that were at the top before users had commands, and whose names no user's has. */
const before: readonly string[] = ['user', 'node', 'doctor', 'ca', 'domain', 'image']

/** Whether the first word of a call leads to the commands of operators. */
export function isOperatorsCommand(word: string | undefined): boolean {
  return word === 'admin' || (word !== undefined && before.includes(word))
}

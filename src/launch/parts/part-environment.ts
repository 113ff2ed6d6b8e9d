import type { Part } from './part.ts'

/** Where a program runs: what it finds its tools by, its user's directory, its language and its time. */
const surroundings = /^(PATH|HOME|LANG|LC_[A-Z]+|TZ|TMPDIR)$/

/** The environment of a part that is started by a supervisor with the environment `own`. */
export function environmentOf(
  { readsSettings = false, env }: Pick<Part, 'readsSettings' | 'env'>,
  own: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => readsSettings || surroundings.test(name))
  return { ...Object.fromEntries(inherited), ...env }
}

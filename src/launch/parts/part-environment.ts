import type { Part } from './part.ts'

/**
 * The names of the variables that other programs may inherit. They say where a program runs: the path to its
 * tools, its user's directory, language and time zone.
 */
const surroundings = /^(PATH|HOME|LANG|LC_[A-Z]+|TZ|TMPDIR)$/

/** The environment of a part. `own` is the environment of the supervisor that starts the part. */
export function environmentOf(
  { readsSettings = false, env }: Pick<Part, 'readsSettings' | 'env'>,
  own: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => readsSettings || surroundings.test(name))
  return { ...Object.fromEntries(inherited), ...env }
}

/** The longest single argument or variable that Linux accepts: 32 pages, less the terminating NUL. */
export const maxProcessStringBytes = 128 * 1024 - 1
/**
 * The bound on all arguments and variables together. It is far below the kernel's own (2 MiB), so that exec
 * never refuses them.
 */
export const maxProcessBytes = 1024 * 1024

export interface ProcessExcess {
  /**
   * What is too large: an argument by its position or a variable by its name. The content is left out, as
   * it may be a secret.
   */
  readonly what: string
  readonly bytes: number
  readonly limit: number
}

/**
 * Returns the first argument or variable, or else their total, that is larger than a process may be given.
 * Sizes are bytes of UTF-8, as the kernel counts them.
 */
export function findProcessExcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ProcessExcess | undefined {
  const limit = maxProcessStringBytes
  let total = 0
  for (const [what, text] of namedStrings(args, env)) {
    const bytes = Buffer.byteLength(text)
    if (bytes > limit) return { what, bytes, limit }
    total += bytes + 1
  }
  return total > maxProcessBytes
    ? { what: 'arguments and environment', bytes: total, limit: maxProcessBytes }
    : undefined
}

/** All strings that a process is given, with their names in messages. */
export function namedStrings(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): readonly (readonly [what: string, text: string])[] {
  return [
    ...args.map((argument, index) => [`argument ${index}`, argument] as const),
    ...Object.entries(env).map(([name, value]) => [`variable ${name}`, `${name}=${value}`] as const),
  ]
}

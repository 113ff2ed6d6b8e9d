/** Linux takes no longer single argument or variable (32 pages), terminator included. */
export const maxProcessStringBytes = 128 * 1024 - 1
/**
 * Of all arguments and variables together: far below the kernel's own bound (2 MiB), so that exec never
 * refuses.
 */
export const maxProcessBytes = 1024 * 1024

export interface ProcessExcess {
  /** An argument by its position or a variable by its name, never what it holds: that may be a secret. */
  readonly what: string
  readonly bytes: number
  readonly limit: number
}

/**
 * The first thing that is larger than a process can be given. Sizes are those of the UTF-8, as the kernel
 * counts.
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

/** Everything that a process is given, with what it is called in messages. */
export function namedStrings(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): readonly (readonly [what: string, text: string])[] {
  return [
    ...args.map((argument, index) => [`argument ${index}`, argument] as const),
    ...Object.entries(env).map(([name, value]) => [`variable ${name}`, `${name}=${value}`] as const),
  ]
}

/** The time as the API writes it, such as `2026-05-28T13:53:40Z`: UTC, in whole seconds. */
export function timestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`
}

/** An object whose property `key` is the time. It is empty if there is no time. */
export function optionalTimestamp<K extends string>(key: K, at: Date | null): { [P in K]?: string } {
  return (at === null ? {} : { [key]: timestamp(at) }) as { [P in K]?: string }
}

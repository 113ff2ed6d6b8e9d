/** Such as `2026-05-28T13:53:40Z`: UTC, in whole seconds. */
export function timestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`
}

/** An object with the property `key`; empty if there is no time. */
export function optionalTimestamp<K extends string>(key: K, at: Date | null): { [P in K]?: string } {
  return (at === null ? {} : { [key]: timestamp(at) }) as { [P in K]?: string }
}

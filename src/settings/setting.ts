/** The facts about the machine from which some defaults follow. */
export interface Machine {
  readonly homeDirectory: string
  readonly checkoutDirectory: string
  /** Whether ports below 1024 may be bound. */
  readonly lowPorts: boolean
  /** Whether virtual machines get network devices of the host, whose packets the host can filter. */
  readonly networkDevices: boolean
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings from which other defaults are derived. */
export interface Base {
  readonly machine: Machine
  readonly dataDir: string
  readonly apiHost: string
  readonly apiPort: number
  readonly metroDomain: string
}

export interface Setting<T> {
  readonly name: string
  readonly meaning: string
  /** The default in words, for the document. */
  readonly defaultText: string
  readonly parse: (text: string, name: string) => T
  readonly fallback: (base: Base) => T
}

export function setting<T>(
  name: string,
  parse: (text: string, name: string) => T,
  fallback: T | ((base: Base) => T),
  text: { readonly meaning: string; readonly defaultText?: string },
): Setting<T> {
  const computed = typeof fallback === 'function'
  return {
    name,
    parse,
    meaning: text.meaning,
    defaultText: text.defaultText ?? (computed || fallback === undefined ? '' : String(fallback)),
    fallback: computed ? (fallback as (base: Base) => T) : () => fallback,
  }
}

export function optional<T>(
  parse: (text: string, name: string) => T,
): (text: string, name: string) => T | undefined {
  return parse
}

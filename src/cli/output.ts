import type { CliDeps } from './cli-deps.ts'

export interface OutputOptions {
  readonly json?: true
}

/** Writes what a command found: as JSON if asked for, else as text. */
export function answer(
  deps: Pick<CliDeps, 'write'>,
  options: OutputOptions,
  found: { readonly json: unknown; readonly text: string },
): void {
  deps.write(options.json ? `${JSON.stringify(found.json, undefined, 2)}\n` : `${found.text}\n`)
}

export function moment(date: Date | null): string {
  return date === null ? '-' : date.toISOString()
}

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

/** Aligns cells in columns. Each column is as wide as its longest cell; the first row holds the headings. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

export function moment(date: Date | null): string {
  return date === null ? '-' : date.toISOString()
}

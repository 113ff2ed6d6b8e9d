import { visibleText } from '../domain/plain-text.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Whether the column is cut if the table is wider than the terminal. Others keep their width. */
  readonly shrinks?: true
}

const gap = 2
/** What is left of a column that shrinks. */
const narrowest = 6

/**
 * Writes rows as a table. Lines are at most `columns` wide: the widest columns that shrink are cut first, and
 * if that is not enough, so is the line.
 */
export function fittedTable<Row>(
  rows: readonly Row[],
  shape: readonly Column<Row>[],
  columns: number | undefined,
): string {
  const cells = [
    shape.map(({ title }) => title),
    ...rows.map((row) => shape.map(({ text }) => visibleText(text(row)) || '-')),
  ]
  const widths = shape.map((_, index) => Math.max(...cells.map((line) => lengthOf(line[index]!))))
  const limit = columns ?? Infinity
  while (totalOf(widths) > limit) {
    const shrinking = widths.map((width, index) => (shape[index]!.shrinks ? width : 0))
    const widest = shrinking.indexOf(Math.max(...shrinking))
    if (shrinking[widest]! <= narrowest) break
    widths[widest]! -= 1
  }
  const lines = cells.map((line) =>
    line.map((cell, index) => padded(cell, widths[index]!)).join(' '.repeat(gap)),
  )
  return lines.map((line) => cut(line.trimEnd(), limit)).join('\n')
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1)
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

function padded(text: string, width: number): string {
  const shown = cut(text, width)
  return shown + ' '.repeat(Math.max(0, width - lengthOf(shown)))
}

/** Shortens a text, with an ellipsis for what is missing. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text)
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** A span of time in its largest unit, such as `3 h`. */
export function spanText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** How long ago a moment of the API was. */
export function ageText(moment: string | undefined, nowMs: number): string {
  return moment === undefined ? '' : spanText(nowMs - Date.parse(moment))
}

export function bytesText(bytes: number): string {
  const mebibyte = 1024 * 1024
  return bytes >= mebibyte ? `${Math.round(bytes / mebibyte)} MiB` : `${Math.ceil(bytes / 1024)} KiB`
}

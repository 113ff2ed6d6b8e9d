import { CliFailure } from '../cli-failure.ts'

/** The load of all instances together, from a moment on until the next point. */
export interface LoadPoint {
  readonly atMs: number
  readonly load: number
}

export const maxLoadBytes = 4_194_304
export const maxLoadLines = 100_000
export const maxLoad = 1_000_000_000
/** The longest time that is simulated: a day. */
export const maxSimulatedSeconds = 86_400

/**
 * Reads `seconds,load` lines. A first line of words, empty lines and text after a `#` are skipped. Throws
 * `CliFailure` with the line, its content and what is permitted.
 */
export function parseLoad(text: string, name: string): readonly [LoadPoint, ...LoadPoint[]] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  if (lines.length > maxLoadLines)
    throw new CliFailure(`${name} has ${lines.length} lines, and may have ${maxLoadLines}`)
  const points: LoadPoint[] = []
  for (const [index, line] of lines.entries()) {
    const written = line.replace(/#.*/, '').trim()
    if (written === '' || (points.length === 0 && index === 0 && isHeading(written))) continue
    const where = `${name}, line ${index + 1}`
    const point = parsePoint(written, where)
    const before = points.at(-1)
    if (before !== undefined && point.atMs <= before.atMs) {
      const [second, last] = [point.atMs / 1_000, before.atMs / 1_000]
      throw new CliFailure(`${where}: second ${second} must come after ${last}, which is before it`)
    }
    points.push(point)
  }
  const [first, ...others] = points
  if (first === undefined) throw new CliFailure(`${name} has no line of the form seconds,load`)
  return [first, ...others]
}

function isHeading(line: string): boolean {
  return line.split(',').every((cell) => /^[\s"]*[a-z]/i.test(cell))
}

function parsePoint(line: string, where: string): LoadPoint {
  const cells = line.split(',').map((cell) => cell.trim())
  const [second, load] = cells
  if (second === undefined || load === undefined || cells.length !== 2)
    throw new CliFailure(`${where}: '${shown(line)}' must have the form seconds,load`)
  return {
    atMs: Math.round(parseNumber(second, { what: 'seconds', max: maxSimulatedSeconds, where }) * 1_000),
    load: parseNumber(load, { what: 'the load', max: maxLoad, where }),
  }
}

function parseNumber(
  text: string,
  { what, max, where }: { readonly what: string; readonly max: number; readonly where: string },
): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value <= max) return value
  throw new CliFailure(`${where}: ${what} must be a number from 0 to ${max}: '${shown(text)}' is not`)
}

/** The beginning of what the user wrote, which may have any length. */
function shown(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}...`
}

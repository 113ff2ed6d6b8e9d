/**
 * The times of a schedule as a calendar has them: all minutes whose parts are in these sets. Each set is in
 * ascending order.
 */
export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: readonly number[]
  /**
   * The days. As with every cron, a day that is restricted in both ways fits if it fits one of them: `0 0
   * 13 * 5` is every Friday and every 13th. Absent: not restricted in this way.
   */
  readonly daysOfMonth?: readonly number[]
  /** 0 is Sunday. */
  readonly daysOfWeek?: readonly number[]
}

export type ReadCron =
  { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly reason: string }

/** The longest expression, in characters. All 60 minutes as a list have 169. */
export const maxCronLength = 512

const monthWords = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayWords = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  /** The words for numbers from `min` on. */
  readonly words?: readonly string[]
}

const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: monthWords },
  // 7 is Sunday, too.
  { name: 'day of the week', min: 0, max: 7, words: dayWords },
]

/** The words in place of an expression. */
export const cronWords: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** The most days that each month can have. */
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Reads an expression of five fields, or one of `cronWords`. The reason says what is wrong and where. */
export function parseCron(text: string): ReadCron {
  const trimmed = text.trim().toLowerCase()
  if (trimmed.startsWith('@') && cronWords[trimmed] === undefined)
    return wrong(`'${trimmed}' is not one of ${Object.keys(cronWords).join(', ')}`)
  const parts = (cronWords[trimmed] ?? trimmed).split(/\s+/)
  if (trimmed === '' || parts.length !== fields.length) {
    const count = trimmed === '' ? 0 : parts.length
    return wrong(
      `expected 5 fields (minute, hour, day of the month, month, day of the week), but there are ${count}`,
    )
  }
  const sets: (readonly number[])[] = []
  for (const [index, field] of fields.entries()) {
    const read = readField(parts[index]!, field)
    if (typeof read === 'string') return wrong(read)
    sets.push(read)
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = sets
  const daysOfWeek = [...new Set(weekdays.map((day) => day % 7))].toSorted((a, b) => a - b)
  const cron: Cron = {
    minutes,
    hours,
    months,
    ...(!isAny(parts[2]) && { daysOfMonth: days }),
    ...(!isAny(parts[4]) && { daysOfWeek }),
  }
  return occurs(cron) ? { ok: true, cron } : wrong('none of its months has such a day, so it never occurs')
}

function wrong(reason: string): ReadCron {
  return { ok: false, reason }
}

function isAny(part: string | undefined): boolean {
  return part === '*' || part === '*/1'
}

function occurs({ months, daysOfMonth = [1], daysOfWeek }: Cron): boolean {
  return daysOfWeek !== undefined || months.some((month) => daysOfMonth[0]! <= longestMonths[month - 1]!)
}

/** The numbers of one field, or what is wrong with it. */
function readField(text: string, field: Field): readonly number[] | string {
  const numbers = new Set<number>()
  for (const item of text.split(',')) {
    const read = readItem(item, field)
    if (typeof read === 'string') return read
    for (let number = read.from; number <= read.to; number += read.step) numbers.add(number)
  }
  return [...numbers].toSorted((a, b) => a - b)
}

interface Span {
  readonly from: number
  readonly to: number
  readonly step: number
}

/** One item of a list: `*`, a number, `from-to`, and any of these with `/step`. */
function readItem(item: string, field: Field): Span | string {
  const { name, min, max } = field
  const [range = '', stepText, ...more] = item.split('/')
  const step = stepText === undefined ? 1 : wholeNumber(stepText)
  if (step === undefined || step < 1 || more.length > 0)
    return `'${item}' of the field '${name}' needs one step of at least 1 after '/'`
  if (range === '*') return { from: min, to: max, step }
  const [first = '', last, ...rest] = range.split('-')
  const from = valueOf(first, field)
  const end = last === undefined ? undefined : valueOf(last, field)
  if (from === undefined || (last !== undefined && end === undefined) || rest.length > 0)
    return `'${item}' is not valid for the field '${name}': expected ${expected(field)}`
  // `5/10` is every tenth from 5 on, as `5-59/10` is.
  const to = end ?? (stepText === undefined ? from : max)
  return to < from ? `'${item}' of the field '${name}' ends before it begins` : { from, to, step }
}

function expected({ min, max, words }: Field): string {
  const numbers = `numbers from ${min} to ${max}`
  const named = words === undefined ? '' : ` or names from ${words[0]} to ${words.at(-1)}`
  return `*, ${numbers}${named}, ranges such as 1-5, or lists of them`
}

function valueOf(text: string, { min, max, words = [] }: Field): number | undefined {
  const word = words.indexOf(text)
  if (word >= 0) return min + word
  const number = wholeNumber(text)
  return number === undefined || number < min || number > max ? undefined : number
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined
}

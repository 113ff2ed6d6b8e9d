import { usage } from '../session.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }

/** Reads a time with its unit, such as `500ms` or `2s`, in milliseconds. The API has the bounds. */
export function readMilliseconds(name: string) {
  return (text: string): number => {
    const [, number = '', unit = ''] = /^(\d{1,9})(ms|s|m|min|h)$/.exec(text) ?? []
    if (number !== '') return Number(number) * (unitMs[unit] ?? 0)
    throw usage(`'${text}' is no value for ${name}: expected a time such as 500ms, 30s, 5m or 1h`)
  }
}

/** The same in whole seconds. */
export function readSeconds(name: string) {
  return (text: string): number => {
    const seconds = readMilliseconds(name)(text) / 1_000
    if (Number.isInteger(seconds)) return seconds
    throw usage(`'${text}' is no value for ${name}: expected whole seconds, such as 30s, 5m or 1h`)
  }
}

/** Reads a share in percent, with or without the sign: `5%`, `0.5`. */
export function readPercent(name: string) {
  return (text: string): number => {
    const [, number] = /^(\d{1,3}(?:\.\d{1,3})?)%?$/.exec(text) ?? []
    const percent = Number(number ?? Number.NaN)
    if (percent <= 100) return percent
    throw usage(`'${text}' is no value for ${name}: expected a share from 0% to 100%, such as 5%`)
  }
}

/** Reads the share of the traffic in each step, in percent: `5,50,100`. */
export function readSteps(name: string) {
  return (text: string): number[] => {
    const steps = text.split(',').map((each) => (/^\d{1,3}%?$/.test(each) ? Number.parseInt(each) : 0))
    if (steps.every((step) => step >= 1 && step <= 100)) return steps
    throw usage(`'${text}' is no value for ${name}: expected percents from 1 to 100, such as 5,50,100`)
  }
}

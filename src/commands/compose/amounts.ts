import type { Located } from './located-yaml.ts'
import { shown } from './reader.ts'
import type { Reader } from './reader.ts'

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
}

/**
 * Reads a size as Compose writes it, such as `512m` or `1gb`, as MiB. A part of a MiB counts as a whole
 * one.
 */
export function readMegabytes(reader: Reader, value: Located, what: string): number | undefined {
  const text = reader.text(value, what)
  if (text === undefined) return undefined
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text) ?? []
  const bytes = number === undefined ? 0 : Number(number) * (unitBytes[unit.toLowerCase()] ?? 1)
  if (bytes > 0) return Math.ceil(bytes / 2 ** 20)
  return reader.refuse(value, `${what} is '${shown(value)}': expected a size, such as 512m or 1gb`)
}

const unitMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}
const longestMs = 86_400_000

/** Reads a time as Compose writes it, such as `1m30s`, as milliseconds. */
export function readDuration(reader: Reader, value: Located, what: string): number | undefined {
  const text = reader.text(value, what)
  if (text === undefined) return undefined
  const ms = millisecondsIn(text)
  if (ms !== undefined) return ms
  return reader.refuse(
    value,
    `${what} is '${shown(value)}': expected a time of at most 24h, such as 30s or 1m30s`,
  )
}

/** The time that a text in the manner of Compose says; undefined if it is none, or more than a day. */
export function millisecondsIn(text: string): number | undefined {
  const parts = /^(?:\d{1,9}(?:\.\d{1,6})?(?:us|ms|s|m|h))+$/.test(text)
    ? [...text.matchAll(/([\d.]+)(us|ms|s|m|h)/g)]
    : []
  const ms = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0)
  return text === '0' || (parts.length > 0 && ms <= longestMs) ? Math.round(ms) : undefined
}

/** Reads a number of processors. A VM has whole ones. */
export function readVcpus(reader: Reader, value: Located, what: string): number | undefined {
  const text = reader.text(value, what)
  if (text === undefined) return undefined
  const number = /^\d{1,4}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isInteger(number) && number > 0) return number
  const next = number > 0 ? `, such as ${Math.ceil(number)}` : ''
  return reader.refuse(
    value,
    `${what} is '${shown(value)}', but a VM has whole processors: give a whole number${next}`,
  )
}

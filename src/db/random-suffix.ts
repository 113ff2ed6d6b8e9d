import { randomInt } from 'node:crypto'

/** Lower-case letters and digits, of which every name may hold any number. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Of 36^5 suffixes, ten taken ones in a row mean that something else is wrong. */
export const maxNameAttempts = 10

export type RandomSuffix = (length: number) => string

export const randomSuffix: RandomSuffix = (length) =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

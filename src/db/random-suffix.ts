import { randomInt } from 'node:crypto'

/** Lower-case letters and digits. Every kind of name allows them. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * How many random names are tried. A suffix has at least 5 characters, so there are at least 36^5 (60
 * million) of them. If ten in a row are taken, something else is wrong.
 */
export const maxNameAttempts = 10

export type RandomSuffix = (length: number) => string

export const randomSuffix: RandomSuffix = (length) =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

import process from 'node:process'

/**
 * Who develops gets other random examples with every run; what is checked before a change is taken has to
 * come out the same. Undefined: it is a run of the first kind.
 */
export const ciSeed = process.env['CI'] === 'true' ? 20_261_121 : undefined

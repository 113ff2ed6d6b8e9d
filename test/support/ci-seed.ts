import process from 'node:process'

/**
 * The seed of random examples. CI runs always use this one, so that their result does not depend on chance.
 * Runs of developers have other examples each time; the seed is undefined there.
 */
export const ciSeed = process.env['CI'] === 'true' ? 20_261_121 : undefined

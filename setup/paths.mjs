import { homedir } from 'node:os'
import path from 'node:path'

export const checkout = path.resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

/**
 * The directory for results that take long to make. They are keyed by version, and all checkouts share them.
 */
export const cache = path.resolve(process.env.ROOST_CACHE_DIR || path.join(homedir(), '.cache', 'roost'))

export const setupFile = path.join(checkout, '.roost-setup.json')

export const isRoot = process.getuid?.() === 0

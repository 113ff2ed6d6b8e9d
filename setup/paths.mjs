import { homedir } from 'node:os'
import path from 'node:path'

export const checkout = path.resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

/** Slow results live outside the checkout, keyed by version and shared by all checkouts. */
export const cache = path.resolve(process.env.ROOST_CACHE_DIR || path.join(homedir(), '.cache', 'roost'))

export const setupFile = path.join(checkout, '.roost-setup.json')

export const isRoot = process.getuid?.() === 0

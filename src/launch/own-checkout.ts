import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import process from 'node:process'

/**
 * The directory of this version's code. The process that runs the platform may have been started from another
 * one, because versions take over from each other.
 */
export const ownCheckout = path.resolve(import.meta.dirname, '../..')

const broughtNode = path.join(ownCheckout, 'node_modules', '.bin', 'node')

/** The Node with which this version's parts run: the one that its set-up brought. */
export const ownNode = existsSync(broughtNode) ? realpathSync(broughtNode) : process.execPath

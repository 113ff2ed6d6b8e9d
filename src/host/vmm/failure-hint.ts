import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const maxHintBytes = 400

/** The last lines of a console, for the message of a boot that failed. */
export function consoleTail(consoleDirectory: string): string {
  try {
    const newest = readdirSync(consoleDirectory)
      .filter((name) => name.endsWith('.log'))
      .toSorted()
      .at(-1)
    if (newest === undefined) return ''
    return hint('its console ends with', readFileSync(path.join(consoleDirectory, newest)))
  } catch {
    return ''
  }
}

/** The last lines of what the VMM complained about. */
export function readComplaint(vmDirectory: string): string {
  try {
    return hint('it said', readFileSync(path.join(vmDirectory, 'vmm.log')))
  } catch {
    return ''
  }
}

function hint(prefix: string, bytes: Buffer): string {
  const text = bytes.subarray(-maxHintBytes).toString('utf8').trim()
  return text === '' ? '' : `; ${prefix}: ${text}`
}

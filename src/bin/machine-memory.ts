import { totalmem } from 'node:os'
import process from 'node:process'

/** What the machine has, or what the container around this process may have of it where that is less. */
export function machineMemoryBytes(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

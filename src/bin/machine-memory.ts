import { totalmem } from 'node:os'
import process from 'node:process'

/** The memory of the machine, or of the container around this process if that has less. */
export function machineMemoryBytes(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

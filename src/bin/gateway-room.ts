import { readFile } from 'node:fs/promises'
import { connectionsFor, heldBytesFor, heldLimits } from '../gateway/clients/client-limits.ts'
import type { ClientLimits } from '../gateway/clients/client-limits.ts'
import { machineMemoryBytes } from './machine-memory.ts'

/**
 * The limit of open files that is assumed if the kernel does not tell the limit. It is the smallest that
 * systems usually set.
 */
const commonOpenFiles = 4_096
const mebibyte = 1 << 20

/**
 * The limits for clients of this process. They are those of the settings or, without a setting, as much as
 * the process can bear.
 */
export async function clientRoom(settings: {
  readonly connectionsPerSource: number
  readonly gatewayConnections: number | undefined
  readonly gatewayHeldMb: number | undefined
}): Promise<Partial<ClientLimits>> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const { gatewayHeldMb } = settings
  const heldBytes =
    gatewayHeldMb === undefined ? heldBytesFor(machineMemoryBytes()) : gatewayHeldMb * mebibyte
  return {
    connectionsPerSource: settings.connectionsPerSource,
    connections: settings.gatewayConnections ?? connectionsFor(openFilesOf(limits)),
    ...heldLimits(heldBytes),
  }
}

/**
 * Reads the limit of open files from `/proc/self/limits`. Node raises the soft limit to the hard one at its
 * start, so the soft limit, which is the first number, is the one that counts.
 */
export function openFilesOf(limits: string): number {
  const [, files] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  if (files === undefined) return commonOpenFiles
  return files === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(files)
}

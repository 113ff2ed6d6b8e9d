import { readFile } from 'node:fs/promises'
import { heldBytesFor } from '../gateway/clients/client-limits.ts'
import type { GatewayRoom } from '../gateway/processes/process-shares.ts'
import { machineMemoryBytes } from './machine-memory.ts'

/**
 * The limit of open files that is assumed if the kernel does not tell the limit. It is the smallest that
 * systems usually set.
 */
const commonOpenFiles = 4_096
const mebibyte = 1 << 20

/**
 * What clients may use of the whole gateway. It is what the settings say or, without a setting, as much as
 * its processes can bear.
 */
export async function gatewayRoom(settings: {
  readonly gatewayProcesses: number
  readonly connectionsPerSource: number
  readonly gatewayConnections: number | undefined
  readonly gatewayHeldMb: number | undefined
}): Promise<GatewayRoom> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const { gatewayHeldMb } = settings
  return {
    processes: settings.gatewayProcesses,
    connectionsPerSource: settings.connectionsPerSource,
    connections: settings.gatewayConnections,
    heldBytes: gatewayHeldMb === undefined ? heldBytesFor(machineMemoryBytes()) : gatewayHeldMb * mebibyte,
    openFilesPerProcess: openFilesOf(limits),
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

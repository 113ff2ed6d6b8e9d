/**
 * How much of a host's memory its VMs take, and whether one more fits. The host decides by these figures at
 * every start. The API uses the same ones when it places an instance, so that it does not refuse what the
 * host would accept.
 */

/**
 * The least memory of a guest, because the platform's kernel does not boot with less. An instance that asks
 * for less silently gets this much.
 */
export const minGuestMemoryMb = 96

/**
 * The memory of a VMM beside that of its guest. 38 MiB were measured beside a full guest of 96 MiB under
 * emulation; 32 of these are translated code. The rest leaves room for threads, devices and the VM's keeper.
 */
export const vmmMemoryMb = 64

/** The memory that a host has for its VMs, and how much of it may be promised. */
export interface HostMemory {
  /** All memory of the machine. */
  readonly totalMb: number
  /** Kept for the machine itself and the parts of the platform on it. */
  readonly reserveMb: number
  /** How often the usable memory may be promised; 1 means that no more is promised than there is. */
  readonly overcommit: number
}

export function guestMemoryMb(memoryMb: number): number {
  return Math.max(memoryMb, minGuestMemoryMb)
}

/**
 * The memory with which the VM of an instance with `memoryMb` is counted, from the admission of its start to
 * the end of its process.
 */
export function footprintMb(memoryMb: number): number {
  return guestMemoryMb(memoryMb) + vmmMemoryMb
}

/** The memory that all VMs together can really use. */
export function usableMemoryMb({ totalMb, reserveMb }: HostMemory): number {
  return Math.max(0, totalMb - reserveMb)
}

/** The memory that may be promised to all VMs together. */
export function memoryLimitMb(host: HostMemory): number {
  return Math.floor(usableMemoryMb(host) * host.overcommit)
}

/** Says why a start does not fit, for people; undefined if it does. */
export function findMemoryLack(
  host: HostMemory,
  asked: { readonly memoryMb: number; readonly usedMb: number },
): string | undefined {
  const neededMb = footprintMb(asked.memoryMb)
  const limitMb = memoryLimitMb(host)
  if (asked.usedMb + neededMb <= limitMb) return undefined
  const share = host.overcommit === 1 ? '' : `, times ${host.overcommit} by the overcommit`
  return (
    `the host has no memory left: the instance needs ${neededMb} MiB (${guestMemoryMb(asked.memoryMb)} and ${vmmMemoryMb} for its VMM), ` +
    `others use ${asked.usedMb} of ${limitMb} MiB (${host.totalMb} less ${host.reserveMb} for the platform${share}); ` +
    'stop another instance or ask for less memory'
  )
}

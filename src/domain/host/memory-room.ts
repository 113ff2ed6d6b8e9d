/**
 * What virtual machines take of their host's memory, and whether one more fits. The host decides by it at
 * every start; the API decides by the same figures when it places an instance, so that it does not refuse
 * what the host would take.
 */

/** Below this the platform's kernel does not boot; smaller instances get it silently. */
export const minGuestMemoryMb = 96

/**
 * What a VMM takes beside the memory of its guest: 38 MiB were measured beside a full guest of 96 MiB under
 * emulation, of which 32 are translated code. The rest leaves room for threads, devices and the VM's keeper.
 */
export const vmmMemoryMb = 64

/** What a host has for its virtual machines, and how much of it is promised. */
export interface HostMemory {
  /** All memory of the machine. */
  readonly totalMb: number
  /** Kept for the machine itself and the parts of the platform on it. */
  readonly reserveMb: number
  /** 1: no more is promised than there is. */
  readonly overcommit: number
}

export function guestMemoryMb(memoryMb: number): number {
  return Math.max(memoryMb, minGuestMemoryMb)
}

/**
 * What a virtual machine of an instance with `memoryMb` is counted with, from the admission of its start to
 * the end of its process.
 */
export function footprintMb(memoryMb: number): number {
  return guestMemoryMb(memoryMb) + vmmMemoryMb
}

/** What virtual machines can really have of the machine. */
export function usableMemoryMb({ totalMb, reserveMb }: HostMemory): number {
  return Math.max(0, totalMb - reserveMb)
}

/** What virtual machines may be promised together. */
export function memoryLimitMb(host: HostMemory): number {
  return Math.floor(usableMemoryMb(host) * host.overcommit)
}

/** Why a start does not fit, for people; undefined where it does. */
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

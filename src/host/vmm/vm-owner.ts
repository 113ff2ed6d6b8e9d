import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { VmSpec } from './vmm.ts'

/** User numbers for VMs whose network assigns none: far from those of people and of packages. */
export const firstVmUid = 0x4000_0000
const vmUidBits = 24

/** Each VM has two numbers this far apart: no VM's is another one's keeper's. */
const keeperUidsBelow = 0x1000_0000

export interface VmOwner {
  /** Whom the VM's process becomes. */
  readonly uid: number
  readonly gid: number
  /** Whom its keeper becomes once the VM is started. */
  readonly keeperUid: number
}

/**
 * Users of its own for a VM and its keeper, so that neither can touch another. Not root: nobody else, for
 * that takes root.
 */
export async function vmOwner(
  spec: Pick<VmSpec, 'instanceUuid' | 'attachment'>,
  options: { isRoot: boolean; accelerator: 'kvm' | 'tcg' },
): Promise<VmOwner | undefined> {
  if (!options.isRoot) return undefined
  const { attachment } = spec
  const uid = attachment.kind === 'tap' ? attachment.ownerUid : uidOf(spec.instanceUuid)
  const gid = options.accelerator === 'kvm' ? await kvmGid(uid) : uid
  return { uid, gid, keeperUid: uid - keeperUidsBelow }
}

function uidOf(instanceUuid: string): number {
  const digest = createHash('sha256').update(instanceUuid).digest()
  return firstVmUid + (digest.readUInt32BE(0) >>> (32 - vmUidBits))
}

/** /dev/kvm usually belongs to a group. */
export async function kvmGid(otherwise: number): Promise<number> {
  try {
    const { gid } = await stat('/dev/kvm')
    return gid === 0 ? otherwise : gid
  } catch {
    return otherwise
  }
}

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { VmSpec } from './vmm.ts'

/** The first user number for VMs whose network assigns none: far from the numbers of people and packages. */
export const firstVmUid = 0x4000_0000
const vmUidBits = 24

/** The user of machines that belong to no instance: the number after the last one of a VM. */
const transientUid = firstVmUid + 2 ** vmUidBits

/** A keeper's user number is this much below its VM's. So no VM has the number of another VM's keeper. */
const keeperUidsBelow = 0x1000_0000

export interface VmOwner {
  /** The user that the VM's process runs as. */
  readonly uid: number
  readonly gid: number
  /** The user that its keeper runs as once the VM is started. */
  readonly keeperUid: number
}

/**
 * The users of a VM and its keeper. No other VM has them, so neither process can touch those of another VM.
 * Undefined if the agent is not root: only root can change to another user.
 */
export async function vmOwner(
  spec: Pick<VmSpec, 'instanceUuid' | 'attachment'>,
  options: OwnerOptions,
): Promise<VmOwner | undefined> {
  const { attachment } = spec
  return await ownerOf(attachment.kind === 'tap' ? attachment.ownerUid : uidOf(spec.instanceUuid), options)
}

/** The users of a machine that lives for a moment and belongs to no instance. */
export async function transientOwner(options: OwnerOptions): Promise<VmOwner | undefined> {
  return await ownerOf(transientUid, options)
}

interface OwnerOptions {
  readonly isRoot: boolean
  readonly accelerator: 'kvm' | 'tcg'
}

async function ownerOf(uid: number, { isRoot, accelerator }: OwnerOptions): Promise<VmOwner | undefined> {
  if (!isRoot) return undefined
  const gid = accelerator === 'kvm' ? await kvmGid(uid) : uid
  return { uid, gid, keeperUid: uid - keeperUidsBelow }
}

function uidOf(instanceUuid: string): number {
  const digest = createHash('sha256').update(instanceUuid).digest()
  return firstVmUid + (digest.readUInt32BE(0) >>> (32 - vmUidBits))
}

/**
 * The group that owns /dev/kvm, so that the VM may open that device. Returns `otherwise` if the group is
 * root's, or if there is no such device.
 */
async function kvmGid(otherwise: number): Promise<number> {
  try {
    const { gid } = await stat('/dev/kvm')
    return gid === 0 ? otherwise : gid
  } catch {
    return otherwise
  }
}

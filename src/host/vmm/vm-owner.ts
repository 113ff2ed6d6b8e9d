import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { VmSpec } from './vmm.ts'

/** User numbers for VMs whose network assigns none: far from those of people and of packages. */
export const firstVmUid = 0x4000_0000
const vmUidBits = 24

/** Of machines that are no instance's: behind the last number of a VM. */
const transientUid = firstVmUid + 2 ** vmUidBits

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
  options: OwnerOptions,
): Promise<VmOwner | undefined> {
  const { attachment } = spec
  return await ownerOf(attachment.kind === 'tap' ? attachment.ownerUid : uidOf(spec.instanceUuid), options)
}

/** The same for a machine that lives for a moment and is no instance's. */
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

/** /dev/kvm usually belongs to a group. */
async function kvmGid(otherwise: number): Promise<number> {
  try {
    const { gid } = await stat('/dev/kvm')
    return gid === 0 ? otherwise : gid
  } catch {
    return otherwise
  }
}

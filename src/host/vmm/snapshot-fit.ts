import type { Attachment } from '../network/network.ts'
import { snapshotKeyOf } from './machine-plan.ts'
import type { PlanContext } from './machine-plan.ts'
import type { SnapshotFit, SnapshotMachine, SnapshotShape } from './vmm.ts'

export function snapshotFit(context: PlanContext): SnapshotFit {
  return {
    machine: machineOf(context),
    misfitOf: (snapshot, shape) => misfitOf(snapshot, shape, context),
  }
}

function machineOf({ facts, assets, accelerator }: PlanContext): SnapshotMachine {
  return {
    QEMU: facts.qemuVersion,
    processor: facts.cpuModel,
    'clock in kHz': String(facts.tscKhz),
    acceleration: accelerator,
    'guest of the platform': assets.guestHash,
  }
}

function misfitOf(
  snapshot: { readonly snapshotKey: string; readonly machine: SnapshotMachine },
  shape: SnapshotShape,
  context: PlanContext,
): string | undefined {
  // Attachment and file of the volume come later. The kind of attachments is the same for all VMs of a host.
  const { volume, ...rest } = shape
  const spec = { ...rest, ...(volume && { volume: { ...volume, path: '' } }) }
  const keys = attachmentsOf(shape).map((attachment) => snapshotKeyOf({ ...spec, attachment }, context))
  if (keys.includes(snapshot.snapshotKey)) return undefined
  const here = machineOf(context)
  const names = Object.keys(here).filter((name) => here[name] !== snapshot.machine[name])
  const differences = names.map(
    (name) => `${name} is '${snapshot.machine[name] ?? ''}' there and '${here[name] ?? ''}' here`,
  )
  return differences.length === 0
    ? 'it began with another version of the platform or of the image'
    : differences.join(', ')
}

function attachmentsOf({ nic }: SnapshotShape): readonly Attachment[] {
  const guest = { ip: nic.ip, mac: nic.mac, prefixLength: 0, gateway: '', nameserver: '' }
  return [
    { ...guest, kind: 'tap', interfaceName: '', ownerUid: 0 },
    { ...guest, kind: 'user', forwards: [] },
  ]
}

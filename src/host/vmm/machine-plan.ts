import { createHash } from 'node:crypto'
import path from 'node:path'
import { guestMemoryMb } from '../../domain/host/memory-room.ts'
import { findProcessExcess } from '../../domain/instance/process-size.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import type { ContainerImage, KernelImage } from '../images/images.ts'
import { buildCommandLine, firstFileFd, platformKernelArguments } from './command-line.ts'
import type { Machine } from './command-line.ts'
import type { GuestAssets } from './guest-assets.ts'
import { encodeGuestConfig, maxGuestConfigBytes } from './guest-config.ts'
import type { HostFacts } from './host-facts.ts'
import type { IncomingState, InheritedFile } from './keeper-process.ts'
import { ownKernelLine, UnfitForKernelLine } from './own-kernel-line.ts'
import { vmDirectory } from './vm-record.ts'
import { VmmError } from './vmm.ts'
import type { VmSpec } from './vmm.ts'

/** How one VM is to be started. */
export interface MachinePlan {
  readonly kind: StartKind
  readonly guest: 'container' | 'kernel'
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  readonly volumeFd?: number
  readonly config: Buffer
  /**
   * The command line of a kernel of the user's own. It is in the file `kernelLineFileName` while the VM
   * starts.
   */
  readonly kernelLine?: string
  /** What the VM continues from. */
  readonly incoming?: IncomingState
}

export interface PlanContext {
  readonly facts: HostFacts
  readonly assets: GuestAssets
  readonly accelerator: 'kvm' | 'tcg'
}

/**
 * The files of a template: the memory and the state of a VM whose guest, with the platform's kernel, was
 * frozen when it had said `ready`.
 */
export interface TemplateFiles {
  readonly ramPath: string
  readonly statePath: string
}

/** The frozen memory of an instance's own guest, and what its keeper knew of the guest. */
export interface SnapshotSource {
  readonly memoryPath: string
  readonly carried: readonly string[]
}

export const kernelLineFileName = 'kernel-line'

/**
 * The plan for the VM that `spec` asks for. It starts from `template` if one is given and the image runs on
 * the platform's kernel.
 */
export function planMachine(spec: VmSpec, context: PlanContext, template?: TemplateFiles): MachinePlan {
  const { image } = spec
  if (image.kind === 'kernel') return planOwnKernel(spec, image, context)
  return template === undefined
    ? planBoot(spec, image, context)
    : planFromTemplate(spec, image, context, template)
}

function planBoot(spec: VmSpec, image: ContainerImage, context: PlanContext): MachinePlan {
  const { assets, accelerator, facts } = context
  const files = new FileList()
  const kernel = {
    kernelFd: files.add(assets.kernelPath),
    initrdFd: files.add(assets.initrdPath),
    commandLine: platformKernelArguments(accelerator, facts.tscKhz),
  }
  const machine = { ...machineBase(spec, context), kernel, ...disksOf(spec, image, files) }
  return plan(StartKind.Boot, 'container', machine, files, configOf(spec))
}

function planFromTemplate(
  spec: VmSpec,
  image: ContainerImage,
  context: PlanContext,
  { ramPath, statePath }: TemplateFiles,
): MachinePlan {
  const files = new FileList()
  // The VMM opens the memory for writing. But the file is sealed and mapped privately, so nothing changes in
  // it.
  const template = { ramFd: files.add(ramPath, 'r+'), stateFd: files.add(statePath) }
  const machine = { ...machineBase(spec, context), template, ...disksOf(spec, image, files) }
  const from = plan(StartKind.Template, 'container', machine, files, configOf(spec))
  return { ...from, incoming: { fd: template.stateFd, source: 'template' } }
}

/**
 * The plan for a VM that continues from its snapshot. It has the same devices in the same order as when it
 * was suspended.
 */
export function planRestore(spec: VmSpec, context: PlanContext, snapshot: SnapshotSource): MachinePlan {
  const files = new FileList()
  const fd = files.add(snapshot.memoryPath)
  const machine = restoredMachine(spec, context, files)
  const guest = spec.image.kind
  // The guest got its configuration at its first start.
  const from = plan(StartKind.Restore, guest, machine, files, Buffer.alloc(0))
  return { ...from, incoming: { fd, source: 'snapshot', carried: snapshot.carried } }
}

function restoredMachine(spec: KeyedSpec, context: PlanContext, files: FileList): Machine {
  const base = { ...machineBase(spec, context), fromSnapshot: true }
  return { ...base, ...disksOf(spec, spec.image, files), oldTimers: spec.image.kind === 'kernel' }
}

/** The disks of a VM. Every kind of start gives it the same ones in the same order. */
function disksOf(
  { volume }: Pick<VmSpec, 'volume'>,
  image: VmSpec['image'],
  files: FileList,
): Pick<Machine, 'rootDiskFd' | 'volume'> {
  const root = image.kind === 'kernel' ? {} : { rootDiskFd: files.add(image.rootfsPath) }
  if (volume === undefined) return root
  const { path: volumePath, readonly } = volume
  if (volumePath === undefined) throw new VmmError('VolumeUnusable', 'the volume has no file')
  return { ...root, volume: { fd: files.add(volumePath, readonly ? 'r' : 'r+'), readonly } }
}

/**
 * A kernel of the user's own gets arguments and environment in its command line, which every kernel
 * understands.
 */
function planOwnKernel(spec: VmSpec, image: KernelImage, context: PlanContext): MachinePlan {
  const files = new FileList()
  const kernel = {
    kernelFd: files.add(image.kernelPath),
    ...(image.initrdPath === undefined ? {} : { initrdFd: files.add(image.initrdPath) }),
    commandLineFileFd: files.add(path.join(vmDirectory(spec.directory), kernelLineFileName)),
  }
  const machine = { ...machineBase(spec, context), kernel, oldTimers: true, ...disksOf(spec, image, files) }
  const own = plan(StartKind.Boot, 'kernel', machine, files, Buffer.alloc(0))
  return { ...own, kernelLine: ownLine(spec, image) }
}

function ownLine(spec: VmSpec, image: KernelImage): string {
  try {
    return ownKernelLine(image, spec.process)
  } catch (error) {
    if (error instanceof UnfitForKernelLine)
      throw new VmmError('ImageUnusable', error.message, { cause: error })
    throw error
  }
}

function plan(
  kind: StartKind,
  guest: MachinePlan['guest'],
  machine: Machine,
  files: FileList,
  config: Buffer,
): MachinePlan {
  const command = buildCommandLine(machine)
  const volume = machine.volume === undefined ? {} : { volumeFd: machine.volume.fd }
  return { kind, guest, command, files: files.list, config, ...volume }
}

function machineBase(spec: KeyedSpec, { facts, accelerator }: PlanContext) {
  const { attachment, vcpus } = spec
  return { qemuPath: facts.qemuPath, accelerator, memoryMb: guestMemoryMb(spec.memoryMb), vcpus, attachment }
}

function configOf(spec: VmSpec): Buffer {
  if (spec.process.argv.length === 0) throw new VmmError('ImageUnusable', 'the image names nothing to run')
  const excess = findProcessExcess(spec.process.argv, spec.process.env)
  if (excess !== undefined) {
    throw new VmmError('ImageUnusable', `${excess.what}: ${excess.bytes} bytes, but at most ${excess.limit}`)
  }
  const config = encodeGuestConfig(spec.process, spec.attachment, spec.volume)
  if (config !== undefined) return config
  throw new VmmError(
    'ImageUnusable',
    `the guest's configuration holds a NUL byte or has over ${maxGuestConfigBytes} bytes`,
  )
}

/** The files that the VMM inherits. `add` returns the descriptor under which the VMM will have the file. */
class FileList {
  readonly list: InheritedFile[] = []

  add(path: string, flags: InheritedFile['flags'] = 'r'): number {
    this.list.push({ path, flags })
    return firstFileFd + this.list.length - 1
  }
}

/**
 * The properties of an instance on which its template depends. Of a volume only its presence matters, not
 * its size or content: the guest loads the driver of disks only after it has left the template.
 */
export type TemplateShape = Pick<VmSpec, 'memoryMb' | 'vcpus' | 'volume'>

/** Two templates are interchangeable exactly where their keys are equal. */
export function templateKey(spec: TemplateShape, context: PlanContext): string {
  const { facts, assets, accelerator } = context
  const parts = [
    facts.qemuPath,
    facts.qemuVersion,
    accelerator,
    platformKernelArguments(accelerator, facts.tscKhz),
    assets.guestHash,
    guestMemoryMb(spec.memoryMb),
    spec.vcpus,
    spec.volume === undefined ? '' : 'volume',
  ]
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}

/** The properties of a VM on which its snapshot depends. */
type KeyedSpec = Pick<VmSpec, 'memoryMb' | 'vcpus' | 'image' | 'attachment' | 'volume'>

/**
 * A snapshot fits a start exactly if this key is the same as when the snapshot was made. The key has the
 * kind and the addresses of the network attachment. It does not have how the host connects the VM, such as
 * the name of the TAP device, because that may change.
 */
export function snapshotKeyOf(spec: KeyedSpec, context: PlanContext): string {
  const { facts, assets, accelerator } = context
  const { image, attachment, volume } = spec
  const { attachment: _, ...devices } = restoredMachine(spec, context, new FileList())
  const parts = [
    facts.qemuVersion,
    facts.cpuModel,
    facts.tscKhz,
    accelerator,
    image.digest,
    image.kind === 'container' ? assets.guestHash : '',
    attachment.kind,
    attachment.mac,
    attachment.ip,
    ...(volume === undefined ? [] : [volume.uuid, volume.at]),
    ...buildCommandLine(devices),
  ]
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}

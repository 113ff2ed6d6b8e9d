import type { Attachment, UserModeAttachment } from '../network/network.ts'
import { volumeArguments } from './volume-device.ts'
import type { VolumeDevice } from './volume-device.ts'

/**
 * The VMM's command line, as a pure function of what the machine is to be. Files are never named by path: the
 * VM's user may not be able to reach them, so they are inherited as descriptors.
 *
 * Nothing of the user's stands here: other users of the host can read a process's arguments.
 */
export interface Machine {
  readonly qemuPath: string
  readonly accelerator: 'kvm' | 'tcg'
  readonly memoryMb: number
  readonly vcpus: number
  /** Absent where the machine continues from a template or a snapshot, which have them in their memory. */
  readonly kernel?: KernelSource
  readonly template?: TemplateSource
  /** It continues from a snapshot, which the keeper names to the VMM. */
  readonly fromSnapshot?: boolean
  /**
   * A kernel of the user's own may need the old timers; ours is told the clock's frequency and starts sooner
   * without.
   */
  readonly oldTimers?: boolean
  readonly rootDiskFd?: number
  readonly volume?: VolumeDevice
  /** Absent: a network device that leads nowhere. */
  readonly attachment?: Attachment
}

export interface KernelSource {
  readonly kernelFd: number
  readonly initrdFd?: number
  /** The platform's own. */
  readonly commandLine?: string
  /**
   * A settings file with the command line of a user's kernel: other users of the host can read our arguments.
   */
  readonly commandLineFileFd?: number
}

export interface TemplateSource {
  readonly ramFd: number
  /** Absent while the template itself is made. The keeper names it to the VMM. */
  readonly stateFd?: number
}

/** The keeper's ends of the channels; `guest/keeper/keeper.h` has the same numbers. */
export const keeperFd = { console: 20, log: 21, control: 22, monitor: 23 } as const
/**
 * The network device, which the keeper opens while it is root; `guest/keeper/keeper.h` has the same number.
 */
export const tapFd = 24
/** The first descriptor that a file may be handed on with, and the bound that the keeper's channels set. */
export const firstFileFd = 3
export const maxFileFd = keeperFd.console - 1

/**
 * All that this processor can do, but for virtual machines of its own: no instance needs them, and much of
 * KVM only serves them.
 */
export const kvmCpu = 'host,-vmx,-svm'

/**
 * An emulated machine has room for a second processor, also where it has one. QEMU leaves the memory barriers
 * out of what a guest runs if there can never be another processor, but its devices work in a thread beside
 * the guest. Without barriers the guest and a device can each miss what the other one has just written, and
 * then both wait for ever.
 */
const emulatedProcessorsAtLeast = 2

/** Translated code of the guest; 32 MiB cost nothing measurable against the default of a gigabyte. */
const translationCacheMb = 32

export function buildCommandLine(machine: Machine): readonly string[] {
  return [
    machine.qemuPath,
    ...machineArguments(machine),
    ...kernelArguments(machine.kernel),
    ...channelArguments(),
    ...diskArguments(machine.rootDiskFd),
    ...volumeArguments(machine.volume),
    ...networkArguments(machine.attachment),
    '-sandbox',
    'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
  ]
}

function machineArguments(machine: Machine): readonly string[] {
  const { accelerator, memoryMb, vcpus } = machine
  const emulated = accelerator === 'tcg'
  const timers = emulated && machine.oldTimers !== true ? ',pit=off,pic=off' : ''
  return [
    '-M',
    `microvm,acpi=on,rtc=on${timers},memory-backend=ram`,
    '-accel',
    emulated ? `tcg,tb-size=${translationCacheMb}` : 'kvm',
    '-cpu',
    emulated ? 'qemu64' : kvmCpu,
    '-smp',
    emulated ? `${vcpus},maxcpus=${Math.max(vcpus, emulatedProcessorsAtLeast)}` : `${vcpus}`,
    '-m',
    `${memoryMb}`,
    '-nodefaults',
    '-no-user-config',
    '-display',
    'none',
    '-no-reboot',
    ...memoryArguments(machine),
  ]
}

/**
 * Under one name however the machine comes up, so that a snapshot of any fits the machine that continues from
 * it.
 */
function memoryArguments({ template, fromSnapshot, memoryMb }: Machine): readonly string[] {
  const continues = fromSnapshot === true || template?.stateFd !== undefined
  const incoming = continues ? ['-incoming', 'defer'] : []
  if (template === undefined) return ['-object', `memory-backend-ram,id=ram,size=${memoryMb}M`, ...incoming]
  const share = template.stateFd === undefined ? 'on' : 'off'
  const source = `mem-path=/dev/fd/${template.ramFd},share=${share}`
  return ['-object', `memory-backend-file,id=ram,size=${memoryMb}M,${source}`, ...incoming]
}

function kernelArguments(kernel: KernelSource | undefined): readonly string[] {
  if (kernel === undefined) return []
  const initrd = kernel.initrdFd === undefined ? [] : ['-initrd', `/dev/fd/${kernel.initrdFd}`]
  return ['-kernel', `/dev/fd/${kernel.kernelFd}`, ...initrd, ...kernelLineArguments(kernel)]
}

function kernelLineArguments({ commandLine, commandLineFileFd }: KernelSource): readonly string[] {
  if (commandLine !== undefined) return ['-append', commandLine]
  return commandLineFileFd === undefined ? [] : ['-readconfig', `/dev/fd/${commandLineFileFd}`]
}

function channelArguments(): readonly string[] {
  return [
    '-chardev',
    `socket,id=con,fd=${keeperFd.console}`,
    '-serial',
    'chardev:con',
    '-chardev',
    `socket,id=mon,fd=${keeperFd.monitor}`,
    '-mon',
    'chardev=mon,mode=control',
    '-device',
    'virtio-serial-device,max_ports=4',
    '-chardev',
    `socket,id=ctl,fd=${keeperFd.control}`,
    '-device',
    'virtserialport,chardev=ctl,name=ctl',
    '-chardev',
    `socket,id=log,fd=${keeperFd.log}`,
    '-device',
    'virtserialport,chardev=log,name=log',
    '-device',
    'pvpanic',
  ]
}

function diskArguments(rootDiskFd: number | undefined): readonly string[] {
  if (rootDiskFd === undefined) return []
  const drive = `file=/dev/fd/${rootDiskFd},if=none,id=root,format=raw,readonly=on`
  return ['-drive', drive, '-device', 'virtio-blk-device,drive=root,serial=root']
}

function networkArguments(attachment: Attachment | undefined): readonly string[] {
  // A hub without other ports: it has no state of its own, which a machine that is connected otherwise could
  // not take over.
  if (attachment === undefined)
    return ['-netdev', 'hubport,id=net,hubid=0', '-device', 'virtio-net-device,netdev=net']
  const netdev = attachment.kind === 'tap' ? `tap,id=net,fd=${tapFd}` : userModeNetwork(attachment)
  return ['-netdev', netdev, '-device', `virtio-net-device,netdev=net,mac=${attachment.mac}`]
}

function userModeNetwork(attachment: UserModeAttachment): string {
  const { ip, prefixLength, gateway, forwards } = attachment
  const addresses = `net=${ip}/${prefixLength},host=${gateway}`
  const ports = forwards.map(
    ({ hostPort, guestPort }) => `,hostfwd=tcp:127.0.0.1:${hostPort}-${ip}:${guestPort}`,
  )
  // Else the guest has what this process has: the loopback of the host as its own gateway, and every network
  // of the host.
  return `user,id=net,${addresses},restrict=on${ports.join('')}`
}

/** What the platform's own kernel is told. */
export function platformKernelArguments(accelerator: 'kvm' | 'tcg', tscEarlyKhz: number): string {
  // Without the frequency, an emulated guest now and then stops at measuring it. Without trust, it compares
  // that clock with its timer ticks, which are late wherever the host is busy, and goes by those from then
  // on: its time runs slow for good.
  const clock = accelerator === 'tcg' ? [`tsc_early_khz=${tscEarlyKhz}`, 'tsc=reliable'] : []
  const quick = ['loglevel=3', 'cryptomgr.notests', 'noreplace-smp']
  return [...clock, 'console=ttyS0', ...quick, 'panic=-1', 'reboot=t'].join(' ')
}

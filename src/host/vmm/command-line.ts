import type { Attachment, UserModeAttachment } from '../network/network.ts'
import { volumeArguments } from './volume-device.ts'
import type { VolumeDevice } from './volume-device.ts'

/**
 * The input of `buildCommandLine`, which is a pure function. Apart from the VMM's own program, the command
 * line never names a file by its path: the VM's user may not be able to reach the file. The VMM inherits
 * open descriptors instead.
 *
 * The command line also has no arguments and no environment of the application, because other users of the
 * host can read the arguments of a process.
 */
export interface Machine {
  readonly qemuPath: string
  readonly accelerator: 'kvm' | 'tcg'
  readonly memoryMb: number
  readonly vcpus: number
  /**
   * Absent where the machine continues from a template or a snapshot: the kernel is in that memory already.
   */
  readonly kernel?: KernelSource
  readonly template?: TemplateSource
  /** The machine continues from a snapshot. The keeper names the snapshot's file to the VMM. */
  readonly fromSnapshot?: boolean
  /**
   * Whether an emulated machine has the old timer and interrupt controller (PIT and PIC). A kernel of the
   * user's own may need them. Our own kernel is told the clock's frequency, and starts sooner without them.
   * Under KVM every machine has them.
   */
  readonly oldTimers?: boolean
  readonly rootDiskFd?: number
  readonly volume?: VolumeDevice
  /** How the VM reaches the network. If absent, its network device is connected to nothing. */
  readonly attachment?: Attachment
}

export interface KernelSource {
  readonly kernelFd: number
  readonly initrdFd?: number
  /** The command line of the platform's own kernel. */
  readonly commandLine?: string
  /**
   * A settings file with the command line of a user's kernel. The line is not an argument, because other
   * users of the host can read the VMM's arguments.
   */
  readonly commandLineFileFd?: number
}

export interface TemplateSource {
  readonly ramFd: number
  /**
   * The state of the template's devices, which the keeper names to the VMM. Absent while the template is
   * made.
   */
  readonly stateFd?: number
}

/**
 * The descriptors of the VMM's ends of its channels to the keeper. `guest/keeper/keeper.h` has the same
 * numbers.
 */
export const keeperFd = { console: 20, log: 21, control: 22, monitor: 23 } as const
/**
 * The descriptor of the VMM's network device. The keeper opens the device while the keeper is still root;
 * `guest/keeper/keeper.h` has the same number.
 */
export const tapFd = 24
/**
 * The descriptor of the socket on which the VMM accepts the agent for the guest's port `exec`;
 * `guest/keeper/keeper.h` has the same number.
 */
export const execFd = 28
/** The first and the last descriptor under which the VMM can inherit a file. The keeper's channels follow. */
export const firstFileFd = 3
export const maxFileFd = keeperFd.console - 1

/**
 * The processor of a guest under KVM. It has all features of the host's processor except those for running
 * virtual machines. No instance needs these, and much of KVM's code serves only them, so no guest gets to
 * that code.
 */
export const kvmCpu = 'host,-vmx,-svm'

/**
 * The least number of processors for which an emulated machine has room, even if it has only one. Where
 * there can never be a second processor, QEMU leaves the memory barriers out of the guest's code, but its
 * devices work in a thread beside the guest. Without barriers the guest and a device can each miss what the
 * other one has just written, and then both wait for ever.
 */
const emulatedProcessorsAtLeast = 2

/**
 * The size of the cache for the guest's translated code. 32 MiB are not measurably slower than the default,
 * a gigabyte.
 */
const translationCacheMb = 32

export function buildCommandLine(machine: Machine): readonly string[] {
  return [
    machine.qemuPath,
    ...machineArguments(machine),
    ...kernelArguments(machine.kernel),
    ...channelArguments(machine),
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
 * The guest's memory. It has the same name for every kind of start, so that a snapshot of any machine fits
 * the machine that continues from it.
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

function channelArguments({ attachment }: Machine): readonly string[] {
  // Nobody speaks with the programs of a template, so it has no socket; only its devices have to be the same.
  const exec = attachment === undefined ? 'null,id=exec' : `socket,id=exec,fd=${execFd},server=on,wait=off`
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
    '-chardev',
    exec,
    '-device',
    'virtserialport,chardev=exec,name=exec',
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
  // The network device of a template is connected to a hub without other ports, because such a hub has no
  // state. If it had one, the state would be part of the template, and a machine with a real network could
  // not take it over.
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
  // Without `restrict` the guest could reach all that the VMM's process can: the host's loopback, as the
  // guest's gateway, and every network of the host.
  return `user,id=net,${addresses},restrict=on${ports.join('')}`
}

/** The command line of the platform's own kernel. */
export function platformKernelArguments(accelerator: 'kvm' | 'tcg', tscEarlyKhz: number): string {
  // Without `tsc_early_khz`, an emulated guest measures the frequency of its time stamp counter, and
  // sometimes hangs there. Without `tsc=reliable`, the guest compares that counter with its timer ticks,
  // which come late if the host is busy. The guest then takes the ticks for its clock, and its time runs
  // slow for good.
  const clock = accelerator === 'tcg' ? [`tsc_early_khz=${tscEarlyKhz}`, 'tsc=reliable'] : []
  const quick = ['loglevel=3', 'cryptomgr.notests', 'noreplace-smp']
  return [...clock, 'console=ttyS0', ...quick, 'panic=-1', 'reboot=t'].join(' ')
}

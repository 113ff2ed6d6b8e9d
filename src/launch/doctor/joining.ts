import type { DoctorCheck } from './check.ts'
import { installationChecks } from './installation.ts'
import { clockCheck, hostPortChecks, tunnelCheck } from './joined-host.ts'
import { accelerationCheck, diskCheck, tunCheck } from './machine.ts'
import type { AccelerationProbe } from './machine.ts'
import { volumeToolsCheck } from './volumes.ts'

/** A machine that is about to join an installation. */
export interface JoiningMachine {
  /** Its address, as the control plane sees it. */
  readonly ownAddress: string
  /** What time it is on the control plane. */
  readonly theirMs: number
  readonly agentPort: number
  readonly meshPort: number
  /** Whether it has the mesh of an earlier host, which the next agent takes over with its port. */
  readonly hasMesh: boolean
  readonly dataDir: string
  readonly cacheDir: string
  readonly vmm: 'auto' | 'qemu' | 'fake'
  readonly accel: 'auto' | 'kvm' | 'tcg'
}

/**
 * What can be known of a machine before it uses its invitation. Where a check says `missing`, instances could
 * not run or nobody could reach them.
 */
export async function joiningChecks(
  machine: JoiningMachine,
  probe: AccelerationProbe,
): Promise<readonly DoctorCheck[]> {
  return [
    clockCheck(machine.theirMs, Date.now()),
    ...(await hostPortChecks(machine, { hasAgent: false, hasMesh: machine.hasMesh })),
    await diskCheck('data directory', machine.dataDir),
    await diskCheck('cache directory', machine.cacheDir),
    ...(machine.vmm === 'fake' ? [] : await virtualMachineChecks(machine, probe)),
  ]
}

async function virtualMachineChecks(
  { cacheDir, accel }: JoiningMachine,
  probe: AccelerationProbe,
): Promise<readonly DoctorCheck[]> {
  return [
    tunnelCheck(),
    await tunCheck(),
    ...(await installationChecks(cacheDir, true)),
    await volumeToolsCheck(),
    ...(accel === 'tcg' ? [] : [wantedAcceleration(accel, await accelerationCheck(probe))]),
  ]
}

/** Emulation is only slower, but an agent that was told to use KVM does not start without it. */
function wantedAcceleration(accel: 'auto' | 'kvm', check: DoctorCheck): DoctorCheck {
  if (accel === 'auto' || check.status !== 'warning') return check
  return { ...check, status: 'missing', remedy: 'set ROOST_ACCEL to auto' }
}

/** Why the machine can not be a host, with all that has to be done. Undefined if it can. */
export function joinRefusal(checks: readonly DoctorCheck[]): string | undefined {
  const missing = checks.filter(({ status }) => status === 'missing')
  if (missing.length === 0) return undefined
  return `this machine can not be a host yet, and its invitation is still good: ${missing.map(checkText).join('; ')}`
}

export function joinWarnings(checks: readonly DoctorCheck[]): readonly string[] {
  return checks.filter(({ status }) => status === 'warning').map(checkText)
}

/** One line, although what a program said may have several. */
function checkText({ name, detail, remedy }: DoctorCheck): string {
  const inLine = detail.trim().replaceAll(/\s*\n\s*/g, ', ')
  return `${name}: ${inLine}${remedy === undefined ? '' : ` (${remedy})`}`
}

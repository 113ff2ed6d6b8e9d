import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { guestMemoryMb } from '../../domain/host/memory-room.ts'
import { readComplaint } from './failure-hint.ts'
import { KeeperGone, startKeeper } from './keeper-process.ts'
import { VmHandle } from './vm-handle.ts'
import { kernelLineFileName, snapshotKeyOf } from './machine-plan.ts'
import type { MachinePlan, PlanContext } from './machine-plan.ts'
import type { ControlGroups } from './control-groups.ts'
import { kernelLineFile } from './own-kernel-line.ts'
import { beginSpan, span } from '../../primitives/spans.ts'
import { isSameProcess } from './process-stat.ts'
import { findEvent } from './vm-events.ts'
import { vmOwner } from './vm-owner.ts'
import { removeVmDirectory, vmDirectory, writeVmRecord } from './vm-record.ts'
import { VmmError } from './vmm.ts'
import type { VmSpec } from './vmm.ts'
import type { WaitingKeeper, WaitingKeepers } from './waiting-keepers.ts'

export interface SpawnInput {
  readonly spec: VmSpec
  readonly plan: MachinePlan
  readonly askedAtUs: number
  readonly options: PlanContext & { readonly groups?: ControlGroups; readonly termPath?: string }
  readonly keepers: WaitingKeepers
}

/**
 * How many keepers are tried for one VM. The first ones may be keepers that have waited and ended meanwhile.
 * At most two wait for a user, so the last one is started for this VM.
 */
const keepersTried = 3

/** Writes the record, then starts the keeper with the VM. Throws `VmmError` if there is no VM afterwards. */
export async function spawnVm(input: SpawnInput): Promise<VmHandle> {
  for (let tried = 1; ; tried++) {
    const { instanceUuid, userUuid } = input.spec
    const take = async () => await input.keepers.take(userUuid)
    const waiting = await span(instanceUuid, 'host: keeper', take)
    try {
      return await spawnBy(waiting, input)
    } catch (error) {
      input.keepers.giveUp(waiting)
      const wasGone = error instanceof VmmError && error.cause instanceof KeeperGone
      if (!wasGone || tried === keepersTried) throw error
    }
  }
}

async function spawnBy(waiting: WaitingKeeper, input: SpawnInput): Promise<VmHandle> {
  const { spec, plan, askedAtUs, options } = input
  const { instanceUuid, boot, consoleDirectory } = spec
  const { facts, accelerator, assets, groups, termPath } = options
  const directory = vmDirectory(spec.directory)
  const { group } = waiting
  const written = beginSpan('host: files and limits of the VM')
  // The few writes that set the limits go on beside all that follows.
  const limited = group === undefined ? undefined : groups?.limit(group, spec)
  limited?.catch(() => undefined)
  const owner = await vmOwner(spec, { isRoot: facts.isRoot, accelerator })
  const record = {
    schemaVersion: 1 as const,
    instanceUuid,
    boot,
    askedAtUs,
    hostBootId: facts.bootId,
    guest: plan.guest,
    kind: plan.kind,
    snapshotKey: snapshotKeyOf(spec, options),
    memoryMb: spec.memoryMb,
    userUuid: spec.userUuid,
    ...(group === undefined ? {} : { group: group.name }),
    ...(owner === undefined ? {} : { ownerUid: owner.uid }),
    ...(termPath === undefined ? {} : { keepsTerm: true }),
  }
  // There may be a record without a VM, left by an agent that died in between.
  await removeVmDirectory(directory)
  await mkdir(consoleDirectory, { recursive: true })
  await writeVmRecord(directory, record)
  const kernelLinePath = path.join(directory, kernelLineFileName)
  // The VM's user has to read the file through its descriptor. Nobody else gets into the directory.
  if (plan.kernelLine !== undefined) {
    await writeFile(kernelLinePath, kernelLineFile(plan.kernelLine), { mode: 0o644 })
  }
  const vm = new VmHandle({ directory, record, hostBootId: facts.bootId })
  try {
    const keeper = {
      ...plan,
      keeperPath: assets.keeperPath,
      directory,
      consoleDirectory,
      memoryMb: guestMemoryMb(spec.memoryMb),
      ...(owner === undefined ? {} : { owner }),
      ...(termPath === undefined ? {} : { termPath }),
      ...(spec.attachment.kind === 'tap' ? { tap: spec.attachment.interfaceName } : {}),
    }
    await limited
    written(instanceUuid)
    await startKeeper(keeper, waiting)
    const isUp = await span(instanceUuid, 'host: keeper answers', async () => await vm.awaitKeeper())
    // The keeper has opened the file by now.
    await rm(kernelLinePath, { force: true })
    if (isUp) return vm
    throw new Error(`the keeper did not come up${readComplaint(directory)}`)
  } catch (error) {
    await removeVmDirectory(directory)
    throw new VmmError('BootFailed', `the VM could not be started: ${String(error)}`, { cause: error })
  }
}

/** How long a killed VM may take to end. After SIGKILL only the host's kernel has work left. */
const killLimitMs = 5_000

/**
 * Ends a VM through its keeper. If the keeper does not react, kills the processes by number, checked against
 * their start times.
 */
export async function killVm(vm: VmHandle, cause: 'forced' | 'host-halted'): Promise<void> {
  if (vm.isOver) return
  vm.kill(cause)
  try {
    await vm.until(() => false, AbortSignal.timeout(killLimitMs))
  } catch {
    await killProcess(vm, 'qemu')
    await killProcess(vm, 'keeper')
    await vm.until(() => false, AbortSignal.timeout(killLimitMs))
  }
}

async function killProcess(vm: VmHandle, what: 'qemu' | 'keeper'): Promise<void> {
  const [pid, startTime] = findEvent(vm.events, what)?.words ?? []
  if (pid === undefined || startTime === undefined) return
  const mark = what === 'qemu' ? { uid: vm.record.ownerUid } : { argument: `dir=${vm.directory}` }
  if (await isSameProcess(Number(pid), startTime, mark)) process.kill(Number(pid), 'SIGKILL')
}

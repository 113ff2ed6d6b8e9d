import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { StartReport } from '../../../src/domain/instance/start-report.ts'
import type { FakeVms } from '../../../src/host/fakes/fake-vms.ts'
import { FakeVmm } from '../../../src/host/fakes/fake-vmm.ts'
import type { FakeVmmOptions } from '../../../src/host/fakes/fake-vmm.ts'
import { snapshotDirectory } from '../../../src/host/vmm/snapshot-files.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { FakeVolumes } from '../../../src/host/fakes/fake-volumes.ts'
import type { FakeVolumesFaults } from '../../../src/host/fakes/fake-volumes.ts'
import { VolumeError } from '../../../src/host/volumes/volumes.ts'
import type { HeldVolume, VolumeHold, VolumeSize } from '../../../src/host/volumes/volumes.ts'

interface Watched {
  readonly directory: string
  readonly host: FakeVms
  /** The events that must never happen to a file system, but did. */
  readonly broken: string[]
  /** Volumes that were checked since a VM had them last. */
  readonly clean: Set<string>
}

/** Volumes that notice if anybody touches one that a VM or a memory still uses. */
export class WatchedVolumes extends FakeVolumes {
  /** How often a volume was refused because another instance has it. */
  refused = 0
  failRelease = false
  /** The making of a volume was cancelled. */
  aborted = false
  readonly #watched: Watched

  constructor(watched: Watched, faults: FakeVolumesFaults = {}) {
    super(faults)
    this.#watched = watched
  }

  override async hold(hold: VolumeHold, signal?: AbortSignal): Promise<HeldVolume> {
    const { uuid, instanceUuid, continues } = hold
    const held = await super.hold(hold, signal).catch((error: unknown) => this.#noteRefusal(error))
    if (continues) return held
    this.#mustBeQuiet('checked', uuid, instanceUuid)
    this.#watched.clean.add(uuid)
    return held
  }

  override async remove(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    await super.remove(volumeUuid, signal).catch((error: unknown) => this.#noteRefusal(error))
  }

  override async make(volume: VolumeSize, signal?: AbortSignal): Promise<void> {
    signal?.addEventListener('abort', () => {
      this.aborted = true
    })
    await super.make(volume, signal)
  }

  override async release(instanceUuid: string): Promise<void> {
    for (const [uuid, holder] of this.held)
      if (holder === instanceUuid) this.#mustBeQuiet('released', uuid, instanceUuid)
    if (this.failRelease) throw new Error('a disk that fails')
    await super.release(instanceUuid)
  }

  #noteRefusal(error: unknown): never {
    if (error instanceof VolumeError && error.failure === 'VolumeInUse') this.refused += 1
    throw error
  }

  #mustBeQuiet(what: string, uuid: string, instanceUuid: string): void {
    const { host, broken, directory } = this.#watched
    const runs = host.statuses().some((status) => {
      const vm = host.find(status)
      return vm?.exit === undefined && vm?.unborn !== true && vm?.spec.volume?.uuid === uuid
    })
    if (runs) broken.push(`${what} under a VM`)
    if (existsSync(snapshotDirectory(join(directory, 'instances', instanceUuid))))
      broken.push(`${what} under a memory`)
  }
}

/** VMs that notice if they do not hold their volume, or if its file system was not checked. */
export class WatchedVmm extends FakeVmm {
  readonly #watched: Watched
  readonly #volumes: () => FakeVolumes

  constructor(watched: Watched, volumes: () => FakeVolumes, options: FakeVmmOptions) {
    super({ ...options, vms: watched.host })
    this.#watched = watched
    this.#volumes = volumes
  }

  override async start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport> {
    const { volume, instanceUuid } = spec
    const { broken, clean } = this.#watched
    if (volume === undefined) return await super.start(spec, signal)
    const isNew = this.vms.find(spec) === undefined
    if (this.#volumes().held.get(volume.uuid) !== instanceUuid) broken.push('started without its volume')
    if (!isNew) return await super.start(spec, signal)
    // If there may be a snapshot, it is known only afterwards whether the VM boots.
    const boots = spec.restore ? undefined : clean.delete(volume.uuid)
    const report = await super.start(spec, signal)
    // A start that a dead agent began may end here late. Its restore must not use up the check of the next
    // start.
    if (report.kind === StartKind.Restore) return report
    if (!(boots ?? clean.delete(volume.uuid))) broken.push('booted from what was not checked')
    return report
  }
}

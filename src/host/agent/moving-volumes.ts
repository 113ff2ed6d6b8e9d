import { VolumePlace } from '../../domain/host/api-protocol.ts'
import type { LaunchSpec, LaunchVolume } from '../../domain/host/api-protocol.ts'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { MovedVolume } from '../../domain/instance/host-work.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { HostStartError } from '../instance/host-start-error.ts'
import { fetchedVolume, memoryWaits, permitOf } from '../instance/record.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { AgentPorts } from './agent-ports.ts'

/** How long the check of a file system may take before an instance moves that is stopped. */
const checkLimitMs = 300_000

/**
 * The volumes of instances that move:
 *
 *   old host   hold: nobody else uses it -> the new host reads its file         release; or letGo: it is overwritten
 *   new host   fetch: its file, which nobody can use (`volume-arrivals.ts`)     take: its own; or settle: taken or dropped
 *
 * Nothing here overwrites a volume on the word of another host. The API has to say before that the volume's
 * row names another host: then that host has all of it.
 */
export class MovingVolumes {
  readonly #ports: AgentPorts
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  readonly #volumes: HostVolumes

  constructor(parts: {
    readonly ports: AgentPorts
    readonly entries: ReadonlyMap<string, InstanceEntry>
    readonly volumes: HostVolumes
  }) {
    this.#ports = parts.ports
    this.#entries = parts.entries
    this.#volumes = parts.volumes
  }

  /** Within the entry's `queue`. An instance that is stopped has no hold of its volume otherwise. */
  async hold({ instanceUuid, record }: InstanceEntry, volume: MovedVolume | undefined): Promise<void> {
    if (volume === undefined) return
    const continues = record !== undefined && permitOf(record) !== undefined && memoryWaits(record)
    const signal = AbortSignal.timeout(checkLimitMs)
    await this.#volumes.holdForMove(volume, { instanceUuid, continues }, signal)
  }

  /** Within `queue`. An instance that sleeps keeps its volume. */
  async release({ instanceUuid, record }: InstanceEntry): Promise<void> {
    if (permitOf(record) === undefined) await this.#volumes.release(instanceUuid)
  }

  /** The volume that moves with an instance from here, and its file. */
  async fileOf(entry: InstanceEntry): Promise<{ readonly uuid: string; readonly path: string } | undefined> {
    const volume = leavingVolume(entry)
    const path = volume && (await this.#ports.volumes.heldFile(volume.uuid, entry.instanceUuid))
    return volume === undefined || path === undefined ? undefined : { uuid: volume.uuid, path }
  }

  /**
   * Throws if the volume may not arrive with the instance. If the row names this host, this is an old order,
   * and what is here of the volume may be the only copy. The same is true if it was fetched with another
   * instance that may yet become this host's.
   */
  async requireArrivable({ uuid }: MovedVolume, instanceUuid: string): Promise<void> {
    if ((await this.#ports.launches.placeOfVolume(uuid)) === VolumePlace.Here)
      throw new HostStartError(HostFailure.BootFailed, ownVolume, { final: true })
    for (const { instanceUuid: other, record } of this.#entries.values())
      if (other !== instanceUuid && fetchedVolume(record) === uuid)
        throw new HostStartError(HostFailure.BootFailed, `instance ${other} waits here for the volume`)
  }

  /**
   * Within `queue`, before the record says that the instance is this host's: its volume is, too. Returns the
   * volume. If the API tells of another one by now, `settle` decides about the one that was fetched.
   */
  async take(
    { instanceUuid, record }: InstanceEntry,
    { volume }: Pick<LaunchSpec, 'volume'>,
  ): Promise<LaunchVolume | undefined> {
    const { move } = record ?? {}
    const uuid = move?.role === 'new' ? move.fetched.volumeUuid : undefined
    if (volume === undefined || volume.uuid !== uuid) return undefined
    await this.#volumes.take(uuid, instanceUuid)
    return volume
  }

  /**
   * Called before an instance is cleared that is not this host's any more: overwrites the volume that moved
   * with it. `told` says whether its new host has told that it has both. If the row still names this host,
   * the volume stays. It also stays if there is no row, unless it was told: a database that was restored
   * does not know younger volumes, and `roost admin doctor` lists what is left of such. Nothing is done if
   * the hold ended meanwhile, which the caller has to find out, too.
   */
  async letGo(entry: InstanceEntry, { told }: { readonly told: boolean }): Promise<void> {
    const volume = leavingVolume(entry)
    if (volume === undefined) return
    const { launches, log } = this.#ports
    const { instanceUuid } = entry
    const about = { instance: instanceUuid, volume: volume.uuid }
    const holdUuid = entry.record?.move?.holdUuid
    const place = await launches.placeOfVolume(volume.uuid)
    // The API may be slow: the instance, and the only copy of the volume, may have moved back meanwhile.
    if (this.#entries.get(instanceUuid) !== entry || entry.record?.move?.holdUuid !== holdUuid) return
    if (told && place === VolumePlace.Here)
      throw new Error(`the volume of instance ${instanceUuid} is on this host`)
    if (place === VolumePlace.Elsewhere || (told && place === VolumePlace.Nowhere)) {
      await this.#volumes.giveAway(volume.uuid, instanceUuid)
      log.info(about, 'a volume has moved to another host')
    } else if (place === VolumePlace.Nowhere) log.warn(about, 'a volume is kept that the API does not know')
  }

  /**
   * Settles what arrived of volumes for which no instance waits here: one whose row names this host is
   * taken, and any other is dropped. One without a row was removed at its host, which was not this one: a
   * removal takes what arrived, too. `fetching` are the volumes that are being fetched.
   */
  async settle(fetching: () => readonly string[]): Promise<void> {
    const { volumes, launches, log } = this.#ports
    const isAwaited = (uuid: string) => fetching().includes(uuid) || this.#waiting().includes(uuid)
    for (const uuid of (await volumes.arrived()).filter((each) => !isAwaited(each))) {
      const place = await launches.placeOfVolume(uuid)
      if (place === VolumePlace.Here) await volumes.takeArrival(uuid)
      else if (!isAwaited(uuid)) {
        log.info({ volume: uuid }, 'what was fetched of a volume is dropped: it is another host that has it')
        await volumes.dropArrival(uuid)
      }
    }
  }

  /** The volumes that were fetched with instances of which the row decides. */
  #waiting(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ record }) =>
      record?.move?.role === 'new' ? (record.move.fetched.volumeUuid ?? []) : [],
    )
  }
}

const ownVolume = 'the volume of the instance is on this host already'

function leavingVolume({ record }: InstanceEntry): MovedVolume | undefined {
  return record?.move?.role === 'old' ? record.move.volume : undefined
}

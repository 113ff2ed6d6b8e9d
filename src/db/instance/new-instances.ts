import { randomUUID } from 'node:crypto'
import type { Asker } from '../../domain/event/asker.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { macAddress } from '../../domain/host/private-address.ts'
import type { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import { mayStandBy, noScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { VolumeMount } from '../../domain/volume/state.ts'
import type { Identifier } from '../identifiers.ts'
import { json } from '../postgres-client.ts'
import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { sealEnv } from './row.ts'
import type { NewService } from '../service/new-service.ts'
import type { Placement } from './placement.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { SecretBox } from '../secret-box.ts'

// This file has what both a create of instances and autoscale need to write rows of instances.

/**
 * A request for an instance and its replicas, with defaults resolved, the name parsed and the image pinned.
 */
export interface NewInstances {
  readonly userUuid: string
  /** The first instance's name. Absent: generated from the image's name. */
  readonly name?: string
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image: string
  readonly memoryMb: number
  readonly vcpus: number
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean
  readonly tags?: readonly string[]
  readonly autostart: boolean
  /** The number of instances in addition to the first. */
  readonly replicas: number
  /** The standby settings. Absent: the instances never sleep. */
  readonly scaleToZero?: ScaleToZero
  /** The service that all replicas share. Absent: they are attached to none. */
  readonly service?: ServiceChoice
  /**
   * Absent: no volume. Each replica has a volume of its own, so an existing volume can not go with replicas.
   */
  readonly volume?: VolumeChoice
  /** Who creates the instances. */
  readonly asker?: Asker
}

/** A service that the user has already, or a new one that is made with the instances. */
export type ServiceChoice = { readonly existing: Identifier } | { readonly made: NewService }

/** A volume that the user has already and that no instance has, or a new one that is not persistent. */
export type VolumeChoice = { readonly mount: VolumeMount } & (
  { readonly existing: Identifier } | { readonly made: { readonly sizeMb: number } }
)

/** The state of a new row. It is the state that the workflow is about to record first. */
export function firstState({
  autostart,
  scaleToZero,
}: Pick<NewInstances, 'autostart' | 'scaleToZero'>): InstanceState {
  if (autostart) return InstanceState.Starting
  return scaleToZero !== undefined && mayStandBy(scaleToZero) ? InstanceState.Standby : InstanceState.Stopped
}

export interface WantedNames {
  readonly userUuid: string
  readonly count: number
  /** The name that was asked for the first instance. It has to be free. */
  readonly given?: string
  /** Proposes another name at each call. */
  readonly propose: () => string
}

/**
 * Chooses free names. The caller has locked the user's row, so the names stay free until the commit. Throws
 * `Refused`.
 */
export async function chooseNames(
  db: Db,
  { userUuid, count, given, propose }: WantedNames,
): Promise<readonly string[]> {
  const names = new Set(given === undefined ? [] : [given])
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const missing = count - names.size
    for (let index = 0; index < missing; index++) names.add(propose())
    const taken = await takenNames(db, userUuid, [...names])
    if (given !== undefined && taken.includes(given)) throw new Refused({ kind: 'name-taken', name: given })
    for (const name of taken) names.delete(name)
    if (names.size === count) return [...names]
  }
  throw new Refused({ kind: 'name-taken', name: propose() })
}

async function takenNames(db: Db, userUuid: string, names: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('name')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .where('name', '=', anyOf(names))
    .execute()
  return rows.map(({ name }) => name)
}

/** The parts in which the instances of one request differ. */
export interface OwnParts {
  readonly name: string
  readonly service: string | null
  readonly placement: Placement
  readonly volume: string | null
  /** The UUID of the master if autoscale makes the instance. */
  readonly cloneOf?: string
}

/** A row to be inserted, under a new UUID. */
export function newInstanceRow(box: SecretBox, wanted: NewInstances, own: OwnParts) {
  const uuid = randomUUID()
  const { policy, cooldownMs, stateful } = wanted.scaleToZero ?? noScaleToZero
  return {
    uuid,
    userUuid: wanted.userUuid,
    nodeId: own.placement.nodeId,
    placement: own.placement.reason === null ? null : json(own.placement.reason),
    name: own.name,
    image: wanted.image,
    memoryMb: wanted.memoryMb,
    vcpus: wanted.vcpus,
    args: wanted.args === undefined ? null : json(wanted.args),
    envSealed: sealEnv(box, uuid, wanted.env),
    autostart: wanted.autostart,
    deleteOnStop: wanted.deleteOnStop,
    tags: json(wanted.tags ?? []),
    restartPolicy: wanted.restartPolicy,
    networkUuid: randomUUID(),
    privateIp: own.placement.privateIp,
    mac: macAddress(own.placement.privateIp),
    serviceUuid: own.service,
    volumeUuid: own.volume,
    volumeAt: wanted.volume?.mount.at ?? null,
    volumeReadonly: wanted.volume?.mount.readonly ?? false,
    cloneOf: own.cloneOf ?? null,
    standbyPolicy: policy,
    standbyCooldownMs: cooldownMs,
    standbyStateful: stateful,
    state: firstState(wanted),
  }
}

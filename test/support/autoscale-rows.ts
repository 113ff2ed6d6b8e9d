import { strict as assert } from 'node:assert'
import { alignClones } from '../../src/db/autoscale/clones.ts'
import type { AlignDeps, WantedSize } from '../../src/db/autoscale/clones.ts'
import type { NewInstances } from '../../src/db/instance/new-instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { findByUuids } from '../../src/db/instance/instances.ts'
import { recordInstance } from '../../src/db/instance/projection.ts'
import { json } from '../../src/db/postgres-client.ts'
import { now } from '../../src/db/sql/time.ts'
import type { AutoscaleConfiguration } from '../../src/domain/autoscale/policy.ts'
import type { InstanceProjection } from '../../src/domain/instance/projection.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { keepLive, testSecretBox } from './accounts.ts'
import { serviceRecords } from './service-records.ts'

interface Owner {
  readonly uuid: string
}

/** The columns of an instance that only autoscale writes. */
export interface CloneMarks {
  readonly uuid: string
  readonly name: string
  readonly cloneOf: string | null
  readonly isRetired: boolean
  readonly retireDrainMs: number | null
}

/** A service with a configuration, and its master. */
export interface ScaledService {
  readonly uuid: string
  readonly master: InstanceRow
}

export const testCooldownMs = 7_000
export const resize = {
  kind: 'resize',
  target: 3,
  decision: {
    from: 1,
    to: 3,
    policy: 'up',
    metric: 'cpu',
    value: 900,
    step: { lowerBound: 800, adjustment: 2 },
    counted: 1,
    proposed: 3,
  },
} as const satisfies WantedSize['cause']

/**
 * Writes and reads autoscaled services without the API and without workflows, in a database for the describe
 * block that calls this.
 */
export function autoscaleRows() {
  const { database, newUser, instances, whileHeld, wanted } = serviceRecords()
  let revision = 0
  beforeEach(() => keepLive(database(), 'local'))

  const db = () => database().db

  const deps = (more: Partial<AlignDeps> = {}): AlignDeps => ({
    database: database(),
    secretBox: testSecretBox,
    nowMs: Date.now,
    ...more,
  })

  /** Records a state of the instance, as its workflow does. */
  const tell = (row: Owner, state: InstanceState, more: Partial<InstanceProjection> = {}) =>
    recordInstance(
      database(),
      { uuid: row.uuid, revision: ++revision },
      { state, boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0, ...more },
    )
  const runs = (row: Owner) => tell(row, InstanceState.Running, { startedAtMs: Date.now() - 60_000 })

  /** Writes the row of the service's configuration, as a call of the API does. */
  const configure = async (
    { uuid, master }: { readonly uuid: string; readonly master: InstanceRow },
    configuration: Partial<AutoscaleConfiguration> = {},
  ) => {
    const { minSize, maxSize, warmupMs } = { minSize: 1, maxSize: 8, warmupMs: 1_000, ...configuration }
    const row = {
      serviceUuid: uuid,
      userUuid: master.userUuid,
      masterUuid: master.uuid,
      minSize,
      maxSize,
      warmupMs,
      cooldownMs: configuration.cooldownMs ?? testCooldownMs,
      policies: json(configuration.policies ?? []),
    }
    const anew = { deletedAt: null, createdAt: now, workflowStartedAt: null, target: null }
    await db()
      .insertInto('autoscaleConfigurations')
      .values(row)
      .onConflict((oc) => oc.column('serviceUuid').doUpdateSet(anew))
      .execute()
  }
  const scaled = async (
    user: Owner,
    configuration: Partial<AutoscaleConfiguration> = {},
    more: Partial<NewInstances> = {},
  ): Promise<ScaledService> => {
    const [master] = await instances(user, {
      service: { made: wanted([443]) },
      autostart: true,
      ...more,
    })
    assert.ok(master?.serviceUuid)
    const service = { uuid: master.serviceUuid, master }
    await db().updateTable('services').set({ persistent: true }).where('uuid', '=', service.uuid).execute()
    await configure(service, configuration)
    await runs(master)
    return service
  }
  const unconfigure = (service: Owner) =>
    db()
      .updateTable('autoscaleConfigurations')
      .set({ deletedAt: now })
      .where('serviceUuid', '=', service.uuid)
      .execute()

  const align = (service: Owner, target: number | undefined, more: Partial<WantedSize & AlignDeps> = {}) =>
    alignClones(deps(more), {
      serviceUuid: service.uuid,
      ...(target !== undefined && { target }),
      cause: more.cause ?? { kind: 'align', target: target ?? 1, size: 1 },
      mayAdd: more.mayAdd ?? true,
    })
  /**
   * All instances of the service that are not deleted, in the order of creation. Those that are given back
   * are included.
   */
  const marks = async (service: Owner): Promise<readonly CloneMarks[]> => {
    const found = await db()
      .selectFrom('instances')
      .select(['uuid', 'name', 'cloneOf', 'retiredAt', 'retireDrainMs'])
      .where('serviceUuid', '=', service.uuid)
      .where('deletedAt', 'is', null)
      .orderBy('position')
      .execute()
    return found.map(({ retiredAt, ...row }) => ({ ...row, isRetired: retiredAt !== null }))
  }
  const clones = async (service: Owner): Promise<readonly InstanceRow[]> => {
    const staying = (await marks(service)).filter(({ cloneOf, isRetired }) => cloneOf !== null && !isRetired)
    return findByUuids(
      database(),
      staying.map(({ uuid }) => uuid),
    )
  }
  /** Grows the service to `count` running clones and returns them, oldest first. */
  const grown = async (service: Owner, count: number): Promise<readonly InstanceRow[]> => {
    await align(service, count + 1)
    const made = await clones(service)
    assert.equal(made.length, count)
    for (const clone of made) await runs(clone)
    return made
  }
  const target = async (service: Owner) => {
    const row = await db()
      .selectFrom('autoscaleConfigurations')
      .select('target')
      .where('serviceUuid', '=', service.uuid)
      .executeTakeFirst()
    return row?.target
  }

  return {
    database,
    db,
    newUser,
    instances,
    wanted,
    whileHeld,
    deps,
    tell,
    runs,
    configure,
    scaled,
    unconfigure,
    align,
    marks,
    clones,
    grown,
    target,
  }
}

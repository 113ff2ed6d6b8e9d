import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { alignClones } from '../../src/db/autoscale/clones.ts'
import type { AlignDeps, WantedSize } from '../../src/db/autoscale/clones.ts'
import type { NewInstances } from '../../src/db/instance/create.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { findByUuids } from '../../src/db/instance/instances.ts'
import { recordInstance } from '../../src/db/instance/projection.ts'
import type { AutoscaleConfiguration } from '../../src/domain/autoscale/policy.ts'
import type { InstanceProjection } from '../../src/domain/instance/projection.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { keepLive, testSecretBox } from './accounts.ts'
import { serviceRecords } from './service-records.ts'

interface Owner {
  readonly uuid: string
}

/** What only autoscale writes of an instance. */
export interface CloneMarks {
  readonly uuid: string
  readonly name: string
  readonly cloneOf: string | null
  readonly isRetired: boolean
  readonly retireDrainMs: number | null
}

/** A service with its configuration and the one that is cloned. */
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
 * Autoscaled services without the API and without workflows, in a database of the describe block that calls
 * this.
 */
export function autoscaleRows() {
  const { database, newUser, instances, whileHeld, wanted } = serviceRecords()
  let revision = 0
  beforeEach(() => keepLive(database(), 'local'))

  const sql = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    database().rows<Row>({ name: createHash('sha1').update(text).digest('hex'), text, values })

  const deps = (more: Partial<AlignDeps> = {}): AlignDeps => ({
    database: database(),
    secretBox: testSecretBox,
    nowMs: Date.now,
    ...more,
  })

  /** As its workflow tells it. */
  const tell = (row: Owner, state: InstanceState, more: Partial<InstanceProjection> = {}) =>
    recordInstance(
      database(),
      { uuid: row.uuid, revision: ++revision },
      { state, boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0, ...more },
    )
  const runs = (row: Owner) => tell(row, InstanceState.Running, { startedAtMs: Date.now() - 60_000 })

  /** The row that an API call writes. */
  const configure = async (
    { uuid, master }: { readonly uuid: string; readonly master: InstanceRow },
    configuration: Partial<AutoscaleConfiguration> = {},
  ) => {
    const { minSize, maxSize, warmupMs } = { minSize: 1, maxSize: 8, warmupMs: 1_000, ...configuration }
    await sql(
      `insert into autoscale_configurations
         (service_uuid, user_uuid, master_uuid, min_size, max_size, warmup_ms, cooldown_ms, policies)
       values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)
       on conflict (service_uuid) do update set deleted_at = null, created_at = now(), workflow_started_at = null,
         target = null`,
      [
        uuid,
        master.userUuid,
        master.uuid,
        minSize,
        maxSize,
        warmupMs,
        configuration.cooldownMs ?? testCooldownMs,
        JSON.stringify(configuration.policies ?? []),
      ],
    )
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
    await sql('update services set persistent = true where uuid = $1', [service.uuid])
    await configure(service, configuration)
    await runs(master)
    return service
  }
  const unconfigure = (service: Owner) =>
    sql('update autoscale_configurations set deleted_at = now() where service_uuid = $1', [service.uuid])

  const align = (service: Owner, target: number | undefined, more: Partial<WantedSize & AlignDeps> = {}) =>
    alignClones(deps(more), {
      serviceUuid: service.uuid,
      ...(target !== undefined && { target }),
      cause: more.cause ?? { kind: 'align', target: target ?? 1, size: 1 },
      mayAdd: more.mayAdd ?? true,
    })
  /** All of the service that are not deleted, in the order of creation, the given back as well. */
  const marks = (service: Owner) =>
    sql<CloneMarks>(
      `select uuid, name, clone_of as "cloneOf", retired_at is not null as "isRetired", retire_drain_ms as "retireDrainMs"
       from instances where service_uuid = $1 and deleted_at is null order by position`,
      [service.uuid],
    )
  const clones = async (service: Owner): Promise<readonly InstanceRow[]> => {
    const staying = (await marks(service)).filter(({ cloneOf, isRetired }) => cloneOf !== null && !isRetired)
    return findByUuids(
      database(),
      staying.map(({ uuid }) => uuid),
    )
  }
  /** So many that run, oldest first. */
  const grown = async (service: Owner, count: number): Promise<readonly InstanceRow[]> => {
    await align(service, count + 1)
    const made = await clones(service)
    assert.equal(made.length, count)
    for (const clone of made) await runs(clone)
    return made
  }
  const target = async (service: Owner) => {
    const [row] = await sql<{ target: number | null }>(
      'select target from autoscale_configurations where service_uuid = $1',
      [service.uuid],
    )
    return row?.target
  }

  return {
    database,
    newUser,
    instances,
    whileHeld,
    sql,
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

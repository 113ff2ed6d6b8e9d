import { strict as assert } from 'node:assert'
import { findByUuids } from '../../src/db/instance/instances.ts'
import type { NewInstances } from '../../src/db/instance/new-instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { createRollout } from '../../src/db/rollout/create.ts'
import type { CreatedRollout, NewRollout } from '../../src/db/rollout/create.ts'
import { readRolloutFacts } from '../../src/db/rollout/facts.ts'
import { readRollout, readVersions } from '../../src/db/rollout/locked.ts'
import { makeMove, recallRollout } from '../../src/db/rollout/moves.ts'
import type { RowMove } from '../../src/db/rollout/moves.ts'
import type { RolloutRow } from '../../src/db/rollout/row.ts'
import { thePlatform } from '../../src/domain/event/asker.ts'
import type { InstanceConfiguration } from '../../src/domain/instance/change.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { defaultCheck } from '../../src/domain/rollout/plan.ts'
import { testSecretBox } from './accounts.ts'
import { autoscaleRows } from './autoscale-rows.ts'

interface Owner {
  readonly uuid: string
}

/** A service with the instances that it has before a rollout. */
export interface RolledService {
  readonly uuid: string
  readonly userUuid: string
  readonly instances: readonly InstanceRow[]
}

export type WantedRollout = Partial<Omit<NewRollout, 'plan'>> & {
  readonly plan?: Partial<NewRollout['plan']>
  readonly kept?: number
}

/** A plan that gives all traffic in one step, and keeps the old version for an hour. */
export const testPlan: NewRollout['plan'] = {
  canary: [100],
  bakeMs: 1_000,
  check: defaultCheck,
  maxErrorPercent: 5,
  keepMs: 3_600_000,
}

/** The new version of tests: the same image with another variable. */
export function withVersion(version: string) {
  return (now: InstanceConfiguration): InstanceConfiguration => ({
    ...now,
    env: { ...now.env, VERSION: version },
  })
}

/**
 * Writes rollouts and makes their moves without the API and without workflows, in a database for the describe
 * block that calls this.
 */
export function rolloutRows() {
  const rows = autoscaleRows()
  const { database, db, instances, runs, wanted } = rows
  const deps = () => ({ database: database(), secretBox: testSecretBox })

  /** A service that is published, with one running instance. */
  const published = async (
    user: Owner,
    more: Partial<NewInstances> = {},
    ports: readonly number[] = [443],
  ): Promise<RolledService> => {
    const service = { made: wanted(ports) }
    const made = await instances(user, { name: 'web', service, autostart: true, ...more })
    for (const one of made) await runs(one)
    return serviceOf(made[0]!.serviceUuid)
  }
  /** Attaches one more running instance to the service. */
  const joined = async (service: RolledService, more: Partial<NewInstances> = {}): Promise<InstanceRow> => {
    const existing = { uuid: service.uuid }
    const [made] = await instances(
      { uuid: service.userUuid },
      { service: { existing }, autostart: true, ...more },
    )
    assert.ok(made)
    await runs(made)
    return row(made)
  }
  const serviceOf = async (uuid: string | null): Promise<RolledService> => {
    assert.ok(uuid !== null)
    const { present } = await readVersions(db(), uuid, undefined)
    return { uuid, userUuid: present[0]!.userUuid, instances: present }
  }

  const create = (service: RolledService, { plan, kept = 50, ...more }: WantedRollout = {}) =>
    createRollout(
      deps(),
      {
        userUuid: service.userUuid,
        serviceUuid: service.uuid,
        asker: thePlatform,
        plan: { ...testPlan, ...plan },
        supersede: false,
        apply: withVersion('two'),
        ...more,
      },
      kept,
    )
  const begun = async (service: RolledService, more: WantedRollout = {}): Promise<CreatedRollout> => {
    const outcome = await create(service, more)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.value
  }
  const refusal = async (service: RolledService, more: WantedRollout = {}) => {
    const outcome = await create(service, more)
    assert.ok(!outcome.ok, 'the rollout is refused')
    return outcome.refusal
  }

  const rollout = async ({ uuid }: Owner): Promise<RolloutRow> => {
    const found = await readRollout(db(), uuid)
    assert.ok(found)
    return found
  }
  /** Makes moves one after the other, each from the phase in which the rollout is then. */
  const move = async (of: Owner, ...moves: readonly RowMove[]): Promise<readonly InstanceRow[]> => {
    let written: readonly InstanceRow[] = []
    for (const one of moves) written = await makeMove(deps(), await rollout(of), one)
    return written
  }
  const row = async ({ uuid }: Owner): Promise<InstanceRow> => {
    const [found] = await findByUuids(database(), [uuid])
    assert.ok(found, 'the instance is there')
    return found
  }
  const facts = async ({ uuid }: Owner) => {
    const read = await readRolloutFacts(database(), uuid)
    assert.ok(read)
    return read.facts
  }
  const recall = ({ userUuid, uuid }: RolledService) =>
    recallRollout(database(), { userUuid, serviceUuid: uuid, asker: thePlatform })
  /** The columns of the service that a rollout writes. */
  const divided = ({ uuid }: Owner) =>
    db()
      .selectFrom('services')
      .select(['rolloutUuid', 'rolloutPercent', 'rolloutHeld', 'persistent'])
      .where('uuid', '=', uuid)
      .executeTakeFirst()
  const masterOf = async ({ uuid }: Owner) =>
    (
      await db()
        .selectFrom('autoscaleConfigurations')
        .select('masterUuid')
        .where('serviceUuid', '=', uuid)
        .executeTakeFirst()
    )?.masterUuid
  /** What became of an instance; undefined if it lives. */
  const fate = async ({ uuid }: Owner): Promise<'deleted' | 'retired' | undefined> => {
    const found = await db()
      .selectFrom('instances')
      .select(['deletedAt', 'retiredAt'])
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow()
    if (found.deletedAt !== null) return 'deleted'
    return found.retiredAt === null ? undefined : 'retired'
  }
  const stops = (one: Owner) => rows.tell(one, InstanceState.Stopped)
  const told = async ({ uuid }: Owner) =>
    db()
      .selectFrom('events')
      .select(['stateBefore', 'stateAfter', 'why', 'askedBy', 'askerName', 'facts'])
      .where('objectUuid', '=', uuid)
      .where('kind', '=', 'service.rollout')
      .orderBy('position')
      .execute()

  return {
    ...rows,
    deps,
    published,
    joined,
    serviceOf,
    create,
    begun,
    refusal,
    rollout,
    move,
    row,
    facts,
    recall,
    divided,
    masterOf,
    fate,
    stops,
    told,
  }
}

export type RolloutRows = ReturnType<typeof rolloutRows>

import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { attachVolume, detachVolume } from '../../../src/db/volume/attach.ts'
import { closeClones, removeAutoscaleRow } from '../../../src/db/autoscale/closing.ts'
import { insertAutoscale, deleteAutoscale } from '../../../src/db/autoscale/configurations.ts'
import { addPolicies, deletePolicies } from '../../../src/db/autoscale/policies.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import { markDeleted, reserveLive } from '../../../src/db/instance/instances.ts'
import { deleteService } from '../../../src/db/service/services.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../../../src/db/instance/records.ts'
import { autoscaleRows } from '../../support/autoscale-rows.ts'
import type { ScaledService } from '../../support/autoscale-rows.ts'
import { testMount as mount } from '../../support/volume-records.ts'

const clients = 10
const callsEach = 60
/** The storm takes some seconds on two idle cores. */
const stormLimitMs = 120_000

interface Scene {
  readonly userUuid: string
  readonly volumeUuid: string
  service: ScaledService
}

describe('all calls on autoscaled services', () => {
  const { database, db, newUser, scaled, align, clones, marks } = autoscaleRows()

  const policy = (index: number) =>
    ({
      name: `p${index}`,
      metric: 'cpu',
      adjustmentType: 'change',
      steps: [{ lowerBound: 1, adjustment: 1 }],
    }) as const
  const owned = ({ userUuid, service }: Scene) => ({ userUuid, uuid: service.uuid, name: 'it' })

  /**
   * The calls of the storm. `pick(n)` returns a number below `n` from the script, by which a call chooses
   * what to do. Each call returns whether it changed anything.
   */
  const calls = {
    async configure({ userUuid, service }, pick) {
      const wanted = { userUuid, serviceUuid: service.uuid, master: { uuid: service.master.uuid } }
      const times = { warmupMs: 0, cooldownMs: pick(1_000), policies: [policy(0)] }
      return (await insertAutoscale(database(), { ...wanted, ...times, maxSize: 4 + pick(4) })).ok
    },
    async unconfigure({ userUuid, service }, pick) {
      return pick(3) === 0 && (await deleteAutoscale(database(), userUuid, service.uuid)).ok
    },
    async addPolicy(scene, pick) {
      return (await addPolicies(database(), owned(scene), [policy(pick(4))])).ok
    },
    async deletePolicy(scene, pick) {
      return (await deletePolicies(database(), owned(scene), [`p${pick(4)}`])).ok
    },
    async align({ service }, pick) {
      return (await align(service, 1 + pick(4))).closing === undefined
    },
    async close({ service }) {
      const { kind } = await closeClones(database(), service.uuid)
      return kind === 'closing' && (await removeAutoscaleRow(database(), service.uuid))
    },
    async deleteClone({ userUuid, service }, pick) {
      const all = await clones(service)
      const clone = all[pick(all.length)]
      return clone !== undefined && (await markDeleted(database(), userUuid, clone.uuid)) !== undefined
    },
    async endClone({ service }) {
      const retired = (await marks(service)).find(({ isRetired }) => isRetired)
      if (retired === undefined) return false
      await markEphemeralDeleted(database(), retired.uuid)
      return true
    },
    async startClone({ userUuid, service }) {
      const [any] = await marks(service)
      return any !== undefined && (await reserveLive(database(), userUuid, any.uuid)).ok
    },
    /** After the delete a new service takes the place of the old one, so that the storm goes on. */
    async deleteMaster(scene, pick) {
      const { userUuid, service } = scene
      if (pick(3) !== 0) return false
      const gone = await markDeleted(database(), userUuid, service.master.uuid)
      if (gone === undefined) return false
      scene.service = await scaled({ uuid: userUuid })
      return true
    },
    async deleteService({ userUuid, service }) {
      return (await deleteService(database(), userUuid, service.uuid)) !== 'not-found'
    },
    /** The volume is attached for a moment only: an instance with a volume can not be a master. */
    async attach({ userUuid, volumeUuid, service }) {
      const instanceUuid = service.master.uuid
      await attachVolume(database(), { userUuid, volumeUuid, instanceUuid, mount })
      await detachVolume(database(), { userUuid, volumeUuid })
      return true
    },
    async clean() {
      const gone = await db()
        .selectFrom('instances')
        .select('uuid')
        .where('deletedAt', 'is not', null)
        .orderBy((eb) => eb.fn('random'))
        .limit(3)
        .execute()
      for (const { uuid } of gone) await removeInstanceRow(database(), uuid)
      return gone.length > 0
    },
  } satisfies Record<string, (scene: Scene, pick: (below: number) => number) => Promise<boolean>>
  const callNames = Object.keys(calls) as (keyof typeof calls)[]

  const step = fc.record({
    name: fc.constantFrom(...callNames, 'configure', 'align', 'align'),
    scene: fc.nat({ max: 1 }),
    picks: fc.array(fc.nat({ max: 10_000 }), { minLength: 4, maxLength: 4 }),
  })
  const script = fc.array(step, { minLength: callsEach, maxLength: callsEach })
  const storm = fc.array(script, { minLength: clients, maxLength: clients })

  it('run at once without a deadlock, and leave consistent rows', async () => {
    const scenes: Scene[] = []
    for (let index = 0; index < 2; index++) {
      const user = await newUser()
      const volume = await createVolume({ database: database() }, { userUuid: user.uuid, sizeMb: 8 })
      assert.ok(volume.ok)
      scenes.push({ userUuid: user.uuid, volumeUuid: volume.volume.uuid, service: await scaled(user) })
    }
    const done = new Set<string>()
    const play = async (steps: readonly { name: keyof typeof calls; scene: number; picks: number[] }[]) => {
      for (const { name, scene, picks } of steps) {
        let next = 0
        const pick = (below: number) => (picks[next++ % picks.length] ?? 0) % Math.max(below, 1)
        if (await calls[name](scenes[scene]!, pick)) done.add(name)
      }
    }
    await fc.assert(
      fc.asyncProperty(storm, async (scripts) => {
        await Promise.all(scripts.map(play))
        await checkRows()
      }),
      // No shrinking: the outcome depends on which call is faster, so a smaller case would be another race.
      { numRuns: 1, endOnFailure: true },
    )
    assert.deepEqual([...done].toSorted(), callNames.toSorted(), 'each was done at least once')
  }).timeout(stormLimitMs)

  /** Fails if rows are in a state that no reader may ever see. */
  async function checkRows(): Promise<void> {
    const none = async (what: string, query: RawBuilder<unknown>) =>
      assert.deepEqual((await query.execute(db())).rows, [], what)
    await none(
      'configurations without a master of their service',
      sql`select service_uuid from autoscale_configurations c where deleted_at is null and not exists
         (select 1 from instances m where m.uuid = c.master_uuid and m.deleted_at is null
           and m.service_uuid = c.service_uuid and m.clone_of is null)`,
    )
    await none(
      'clones that nobody has any use for',
      sql`select uuid from instances i where clone_of is not null and deleted_at is null and retired_at is null
         and not exists (select 1 from autoscale_configurations c where c.service_uuid = i.service_uuid
           and c.master_uuid = i.clone_of and c.deleted_at is null)`,
    )
    await none(
      'masters and clones with a volume',
      sql`select uuid from instances i where volume_uuid is not null and deleted_at is null and (clone_of is not null
         or exists (select 1 from autoscale_configurations c where c.master_uuid = i.uuid and c.deleted_at is null))`,
    )
    await none(
      'more clones than a size may have',
      sql`select c.service_uuid from autoscale_configurations c join instances i on i.service_uuid = c.service_uuid
       where i.clone_of = c.master_uuid and i.deleted_at is null and i.retired_at is null and c.deleted_at is null
       group by c.service_uuid, c.max_size having count(*) > c.max_size`,
    )
    await none(
      'configurations of services that go with an instance',
      sql`select service_uuid from autoscale_configurations join services on uuid = service_uuid where not persistent`,
    )
    await none(
      'policies of one name',
      sql`select service_uuid from autoscale_configurations, jsonb_array_elements(policies) as policy
       group by service_uuid, policy ->> 'name' having count(*) > 1`,
    )
    const seen = sql<{
      deadlocks: number
    }>`select deadlocks from pg_stat_database where datname = current_database()`
    assert.deepEqual((await seen.execute(db())).rows, [{ deadlocks: 0 }])
  }
})

import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { markDeleted, reserveLive } from '../../../src/db/instance/instances.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../../../src/db/instance/records.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { removeVolumeRow } from '../../../src/db/volume/records.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { addNode } from '../../support/accounts.ts'
import { testMount as mount, volumeRecords } from '../../support/volume-records.ts'

const hosts = { local: 400, second: 300, third: 200 }
const clients = 12
const callsEach = 40
/** The storm takes ten seconds on two idle cores. */
const stormLimitMs = 120_000
/** How many objects of each user are used: few, so that calls meet. */
const objectsSeen = 6

interface Tenant {
  readonly user: UserRecord
  readonly instances: { readonly uuid: string }[]
  readonly volumes: { readonly uuid: string }[]
}

describe('all calls on volumes', () => {
  const {
    database,
    newUser,
    wantedService,
    createInstance,
    create,
    available,
    instance,
    tell,
    tellInstance,
    attach,
    detach,
    remove,
  } = volumeRecords()

  function see(list: { readonly uuid: string }[], more: readonly { readonly uuid: string }[]): void {
    list.push(...more)
    list.splice(0, Math.max(0, list.length - objectsSeen))
  }

  /**
   * The calls of the storm. `pick(n)` returns a number below `n` from the script, by which a call chooses
   * what to do. Each call returns whether it changed anything.
   */
  const calls = {
    async createVolume({ user, volumes }, pick) {
      const outcome = await create(user, { sizeMb: 8 + pick(40) })
      if (outcome.ok) see(volumes, [outcome.volume])
      return outcome.ok
    },
    async createInstance({ user, instances, volumes }, pick) {
      const existing = { uuid: volumes[pick(volumes.length)]?.uuid ?? '' }
      const choices = [
        {},
        { volume: { made: { sizeMb: 8 + pick(30) }, mount }, replicas: pick(2) },
        { volume: { existing, mount } },
      ]
      const service = pick(2) === 0 ? {} : { service: { made: wantedService([443]) } }
      const outcome = await createInstance(user, { ...choices[pick(choices.length)], ...service })
      if (!outcome.ok) return false
      see(instances, outcome.instances)
      see(
        volumes,
        outcome.instances.flatMap(({ volumeUuid }) => (volumeUuid === null ? [] : [{ uuid: volumeUuid }])),
      )
      return true
    },
    async attach({ user, instances, volumes }, pick) {
      const volume = volumes[pick(volumes.length)]
      for (const holder of volume === undefined ? [] : [...instances]) {
        if ((await attach(user, volume!, holder)).ok) return true
      }
      return false
    },
    async detach({ user, volumes }, pick) {
      const volume = volumes[pick(volumes.length)]
      return volume !== undefined && (await detach(user, volume)).ok
    },
    async remove({ user, volumes }, pick) {
      const volume = volumes[pick(volumes.length)]
      return volume !== undefined && pick(2) === 0 && (await remove(user, volume)).ok
    },
    async start({ user, instances }, pick) {
      const row = instances[pick(instances.length)]
      return row !== undefined && pick(4) === 0 && (await reserveLive(database(), user.uuid, row.uuid)).ok
    },
    async tell({ volumes }, pick) {
      const volume = volumes[pick(volumes.length)]
      return volume !== undefined && tell(volume, pick(5) === 0 ? VolumePhase.Error : VolumePhase.Ready)
    },
    async tellInstance({ instances }, pick) {
      const row = instances[pick(instances.length)]
      const state = pick(5) === 0 ? InstanceState.Running : InstanceState.Stopped
      return row !== undefined && (await tellInstance(row, state)).isWritten
    },
    async end({ user, instances }, pick) {
      const row = instances[pick(instances.length)]
      if (row === undefined || pick(3) !== 0) return false
      if (pick(2) === 0) return (await markDeleted(database(), user.uuid, row.uuid)) !== undefined
      await markEphemeralDeleted(database(), row.uuid)
      return true
    },
    async clean() {
      for (const [table, removed] of [
        ['volumes', removeVolumeRow],
        ['instances', removeInstanceRow],
      ] as const) {
        const deleted = await database()
          .db.selectFrom(table)
          .select('uuid')
          .where('deletedAt', 'is not', null)
          .orderBy((eb) => eb.fn('random'))
          .limit(2)
          .execute()
        for (const { uuid } of deleted) await removed(database(), uuid)
      }
      return true
    },
    async beat(_, pick) {
      const all = Object.entries(hosts)
      const [id, volumeMb] = all[pick(all.length)]!
      await addNode(database(), { id, volumeMb })
      return true
    },
  } satisfies Record<string, (tenant: Tenant, pick: (below: number) => number) => Promise<boolean>>
  const callNames = Object.keys(calls) as (keyof typeof calls)[]

  const step = fc.record({
    name: fc.constantFrom(...callNames, 'attach'),
    tenant: fc.nat({ max: 2 }),
    picks: fc.array(fc.nat({ max: 10_000 }), { minLength: 6, maxLength: 6 }),
  })
  const script = fc.array(step, { minLength: callsEach, maxLength: callsEach })
  const storm = fc.array(script, { minLength: clients, maxLength: clients })

  it('run at once without a deadlock, and leave consistent rows', async () => {
    for (const [id, volumeMb] of Object.entries(hosts)) await addNode(database(), { id, volumeMb })
    const users = [
      await newUser({ volumes: 8, totalVolumeMb: 200, instances: 12 }),
      await newUser({ volumes: 20, totalVolumeMb: 300 }),
      await newUser(),
    ]
    const tenants: Tenant[] = []
    for (const user of users) {
      const volumes = [await available(user), await available(user)]
      tenants.push({ user, volumes, instances: [await instance(user), await instance(user)] })
    }
    const done = new Set<string>()
    const play = async (steps: readonly { name: keyof typeof calls; tenant: number; picks: number[] }[]) => {
      for (const { name, tenant, picks } of steps) {
        let next = 0
        const pick = (below: number) => (picks[next++ % picks.length] ?? 0) % Math.max(below, 1)
        if (await calls[name](tenants[tenant]!, pick)) done.add(name)
      }
    }
    // No shrinking: the outcome depends on which call is faster, so a smaller case would be another race.
    const settings = { numRuns: 1, endOnFailure: true }
    await fc.assert(
      fc.asyncProperty(storm, async (scripts) => {
        await Promise.all(scripts.map(play))
        await checkRows()
      }),
      settings,
    )
    assert.deepEqual([...done].toSorted(), callNames.toSorted(), 'each was done at least once')
  }).timeout(stormLimitMs)

  /** Fails if rows are in a state that no reader may ever see. */
  async function checkRows(): Promise<void> {
    const { db } = database()
    const none = async (what: string, query: RawBuilder<unknown>) =>
      assert.deepEqual((await query.execute(db)).rows, [], what)
    await none(
      'instances with volumes that they can not have',
      sql`select instances.uuid from instances join volumes on volumes.uuid = volume_uuid
       where instances.deleted_at is null and (volumes.deleted_at is not null or volume_at is null
         or volumes.user_uuid <> instances.user_uuid or volumes.node_id <> instances.node_id)`,
    )
    await none(
      'volumes that should have gone with their instance',
      sql`select uuid from volumes where deleted_at is null and not persistent and not exists
         (select 1 from instances where volume_uuid = volumes.uuid and deleted_at is null)`,
    )
    await none(
      'hosts that promise what they do not have',
      sql`select id from nodes where volume_mb <
         (select coalesce(sum(size_mb), 0) from volumes where node_id = nodes.id)`,
    )
    await none(
      'users above their quotas',
      sql`select users.uuid from users join volumes on user_uuid = users.uuid and deleted_at is null
       group by users.uuid having count(*) > hard_volumes or sum(size_mb) > hard_total_volume_mb`,
    )
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
    assert.deepEqual(rows, [{ deadlocks: 0 }])
  }
})

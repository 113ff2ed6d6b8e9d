import { strict as assert } from 'node:assert'
import { setUse } from '../../../src/db/host/administration.ts'
import { sql } from 'kysely'
import { maxDrainMs } from '../../../src/contract/limits.ts'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { lastDecisions } from '../../../src/db/autoscale/decisions.ts'
import type { Aligned } from '../../../src/db/autoscale/clones.ts'
import { openEnv, sealEnv } from '../../../src/db/instance/row.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { ago, now } from '../../../src/db/sql/time.ts'
import { leastDrainMs } from '../../../src/domain/autoscale/alignment.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { addNode, hearNode, testSecretBox } from '../../support/accounts.ts'
import { autoscaleRows, resize, testCooldownMs } from '../../support/autoscale-rows.ts'

/** Gives every host the memory that the instances need, and `roomMb` more. */
const leaveRoom = (roomMb: number) =>
  sql`update nodes set memory_mb = ${roomMb} + (select sum(greatest(memory_mb, 96) + 64) from instances
    where state <> 'stopped' and state <> 'standby' and (state <> 'starting' or failure is null))`
/** How many calls run at once: enough for a race between them to show. */
const atOnce = 6

describe('the clones of an autoscaled service', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, align, marks, clones, grown, target, tell, db, database, whileHeld } = rows

  function done(aligned: Aligned) {
    assert.ok(aligned.closing === undefined, 'there is a configuration')
    return aligned
  }
  const hearAll = (heartbeatAt: typeof now) => db().updateTable('nodes').set({ heartbeatAt }).execute()
  const removeHost = async (id: string) => {
    await db().deleteFrom('instances').where('nodeId', '=', id).execute()
    await db().deleteFrom('nodes').where('id', '=', id).execute()
  }
  const decisions = async (service: { readonly uuid: string }) =>
    (await lastDecisions(database(), service.uuid)).map(({ report }) => report)

  describe('that are added', () => {
    it('have the settings of their master, start by themselves, and are named after it', async () => {
      const user = await newUser()
      const service = await scaled(
        user,
        {},
        {
          name: 'web',
          memoryMb: 192,
          args: ['/bin/serve', '--fast'],
          restartPolicy: RestartPolicy.OnFailure,
          deleteOnStop: true,
          autostart: false,
          scaleToZero: { policy: 'on', cooldownMs: 4_000, stateful: true },
        },
      )
      const { added, before, after, refusal } = done(await align(service, 2))
      assert.deepEqual([before, after, refusal], [1, 2, undefined])
      const [clone] = await clones(service)
      assert.ok(clone)
      assert.deepEqual(
        added.map(({ instanceUuid, name, autostart }) => [instanceUuid, name, autostart]),
        [[clone.uuid, clone.name, true]],
      )
      assert.match(clone.name, /^web-[a-z0-9]{5}$/)
      const { image, memoryMb, vcpus, args, restartPolicy, serviceUuid, userUuid } = service.master
      const { standbyPolicy, standbyCooldownMs, standbyStateful } = service.master
      assert.partialDeepStrictEqual(clone, {
        image,
        memoryMb,
        vcpus,
        args,
        restartPolicy,
        serviceUuid,
        userUuid,
        standbyPolicy,
        standbyCooldownMs,
        standbyStateful,
        autostart: true,
        deleteOnStop: false,
        state: InstanceState.Starting,
        startCount: 0,
        volumeUuid: null,
      })
      assert.notEqual(clone.privateIp, service.master.privateIp)
      assert.notEqual(clone.networkUuid, service.master.networkUuid)
      assert.deepEqual((await marks(service)).at(-1)?.cloneOf, service.master.uuid)
    })

    it('have the environment sealed for themselves alone', async () => {
      const env = { PASSWORD: 'correct horse', MODE: 'fast' }
      const service = await scaled(await newUser(), {}, { env })
      await align(service, 3)
      const [one, other] = await clones(service)
      assert.ok(one && other)
      for (const clone of [one, other]) assert.deepEqual(openEnv(testSecretBox, clone), env)
      assert.notEqual(one.envSealed, other.envSealed)
      for (const stranger of [service.master, other])
        assert.throws(() => openEnv(testSecretBox, { uuid: stranger.uuid, envSealed: one.envSealed }))
      assert.throws(() =>
        openEnv(testSecretBox, { uuid: one.uuid, envSealed: sealEnv(testSecretBox, other.uuid, env) }),
      )
    })

    it('are not added again by a repeat', async () => {
      const service = await scaled(await newUser())
      assert.equal(done(await align(service, 4)).added.length, 3)
      const { added, retired, before, after } = done(await align(service, 4))
      assert.deepEqual([added, retired, before, after], [[], [], 4, 4])
      assert.equal((await marks(service)).length, 4)
      assert.equal(await target(service), 4)
    })

    it('are completed by a later alignment', async () => {
      const service = await scaled(await newUser())
      await align(service, 3)
      assert.equal(done(await align(service, 6)).added.length, 3)
      assert.equal((await clones(service)).length, 5)
    })

    it('are as many as wanted, however many align at once', async () => {
      const service = await scaled(await newUser())
      const all = await Promise.all(Array.from({ length: atOnce }, () => align(service, 5)))
      assert.equal((await clones(service)).length, 4)
      assert.equal(
        all.reduce((sum, aligned) => sum + done(aligned).added.length, 0),
        4,
      )
    })

    it('are within the bounds of the configuration, whatever size is asked for', async () => {
      const service = await scaled(await newUser(), { minSize: 2, maxSize: 3 })
      assert.equal(done(await align(service, 9)).after, 3)
      assert.equal(await target(service), 3)
      assert.equal(done(await align(service, 0)).after, 2)
      assert.equal(await target(service), 2)
    })

    it('stay as many as there are if no size was decided', async () => {
      const service = await scaled(await newUser(), { minSize: 2 })
      assert.equal(done(await align(service, undefined)).after, 2)
      await align(service, 4)
      assert.equal(done(await align(service, undefined)).after, 4)
    })

    it('stand in for a master that is stopped', async () => {
      const service = await scaled(await newUser())
      await tell(service.master, InstanceState.Stopped)
      const { before, after, added } = done(await align(service, 1))
      assert.deepEqual([before, after, added.length], [0, 1, 1])
    })

    it('are not added while that is not allowed, but surplus clones are given back', async () => {
      const service = await scaled(await newUser())
      const { after, added, refusal } = done(await align(service, 3, { mayAdd: false }))
      assert.deepEqual([after, added, refusal], [1, [], undefined])
      assert.equal(await target(service), 3)
      await grown(service, 3)
      assert.equal(done(await align(service, 2, { mayAdd: false })).retired.length, 2)
    })

    it('take a name that is free', async () => {
      const user = await newUser()
      const service = await scaled(user, {}, { name: 'shop' })
      await rows.instances(user, { name: 'shop-aaaaa' })
      const suffixes = ['aaaaa', 'aaaaa', 'bbbbb']
      await align(service, 2, { randomSuffix: () => suffixes.shift()! })
      assert.deepEqual(
        (await clones(service)).map(({ name }) => name),
        ['shop-bbbbb'],
      )
    })

    it('are refused with a sentence if every name is taken', async () => {
      const user = await newUser()
      const service = await scaled(user, {}, { name: 'shop' })
      await rows.instances(user, { name: 'shop-aaaaa' })
      const { refusal, after } = done(await align(service, 2, { randomSuffix: () => 'aaaaa' }))
      assert.deepEqual([refusal, after], ["no name such as 'shop-aaaaa' is free", 1])
    })
  })

  describe('at the edge of the quotas', () => {
    it('are as many as fit, and the refusal names the quota and its bound', async () => {
      for (const [hard, name] of [
        [{ instances: 3 }, 'instances'],
        [{ liveInstances: 3 }, 'live_instances'],
        [{ liveVcpus: 3 }, 'live_vcpus'],
      ] as const) {
        const user = await newUser(hard)
        const service = await scaled(user)
        const { added, after, refusal } = done(await align(service, 6, { cause: resize }))
        assert.deepEqual([added.length, after], [2, 3])
        assert.equal(refusal, `quota '${name}' exceeded: 4 with one more, 3 allowed`)
        assert.equal(await target(service), 3)
        assert.partialDeepStrictEqual(await decisions(service), [
          { cause: resize, before: 1, after: 3, added: added.map((one) => one.name), refusal },
        ])
      }
    })

    it('count against the quota of memory, as any instance does', async () => {
      const service = await scaled(await newUser({ liveMemoryMb: 300 }))
      assert.equal(
        done(await align(service, 3)).refusal,
        "quota 'live_memory_mb' exceeded: 384 with one more, 300 allowed",
      )
    })

    it('do not exceed the quotas, however many services of a user grow at once', async () => {
      const user = await newUser({ instances: 9 })
      const services = []
      for (let index = 0; index < 4; index++) services.push(await scaled(user))
      await Promise.all(services.map((service) => align(service, 8)))
      assert.equal((await readQuotas(database(), user.uuid))?.used.instances, 9)
    })

    it('are refused if no host has room, all are cordoned, or none answers', async () => {
      const user = await newUser()
      const service = await scaled(user, {}, { memoryMb: 8_000 })
      await leaveRoom(100).execute(db())
      try {
        const noRoom = /^no host has room: one more takes 8064 MiB and a private address, .* has 100 MiB$/
        assert.match(done(await align(service, 2)).refusal ?? '', noRoom)
        await addNode(database(), { id: 'roomy', memoryMb: 20_000 })
        assert.equal(done(await align(service, 2)).refusal, undefined)
        assert.equal((await clones(service))[0]?.nodeId, 'roomy')
        for (const id of ['roomy', 'local']) await setUse(database(), id, HostUse.Cordoned)
        assert.match(done(await align(service, 3)).refusal ?? '', /^administrators cordoned all hosts/)
        await hearAll(ago(3_600_000))
        assert.equal(done(await align(service, 3)).refusal, 'no host answers: none was heard of lately')
      } finally {
        await removeHost('roomy')
        await setUse(database(), 'local', HostUse.Open)
        await db().updateTable('nodes').set({ memoryMb: 65_536, heartbeatAt: now }).execute()
      }
    })
  })

  it('replace all instances of a host that is gone, the master included, and are surplus when the host is back', async () => {
    const service = await scaled(await newUser())
    await grown(service, 2)
    await hearAll(ago(65_000))
    await hearNode(database(), { id: 'other' })
    await db()
      .updateTable('nodes')
      .set({ heardSince: ago(70_000) })
      .where('id', '=', 'other')
      .execute()
    try {
      const { before, after, retired, refusal } = done(await align(service, 3))
      assert.deepEqual([before, after, retired, refusal], [0, 3, [], undefined])
      assert.deepEqual(
        (await clones(service)).map(({ nodeId }) => nodeId),
        ['local', 'local', 'other', 'other', 'other'],
      )
      await db().updateTable('nodes').set({ heartbeatAt: now }).where('id', '=', 'local').execute()
      const { before: back, retired: surplus } = done(await align(service, 3))
      assert.deepEqual([back, surplus.length], [6, 3])
    } finally {
      await removeHost('other')
      await db().updateTable('nodes').set({ heartbeatAt: now }).where('id', '=', 'local').execute()
    }
  })

  describe('that are given back', () => {
    it('are the surplus: starting ones first, then sleeping ones, then the youngest, and never the master', async () => {
      const service = await scaled(await newUser())
      const [oldest, asleep, young, starting, youngest] = await grown(service, 5)
      await tell(asleep!, InstanceState.Standby)
      await tell(starting!, InstanceState.Starting)
      const order = []
      for (let size = 5; size >= 1; size--) {
        const { retired } = done(await align(service, size))
        assert.equal(retired.length, 1)
        assert.equal(retired[0]?.drainMs, testCooldownMs)
        order.push(retired[0]?.settings.name)
      }
      assert.deepEqual(
        order,
        [starting, asleep, youngest, young, oldest].map((row) => row!.name),
      )
      assert.deepEqual(done(await align(service, 1)).retired, [])
      const [master] = await marks(service)
      assert.deepEqual([master?.uuid, master?.isRetired], [service.master.uuid, false])
    })

    it('do not count for the size any more, and are not given back twice', async () => {
      const service = await scaled(await newUser())
      await grown(service, 3)
      const first = done(await align(service, 2))
      assert.deepEqual([first.before, first.after, first.retired.length], [4, 2, 2])
      const again = done(await align(service, 2))
      assert.deepEqual([again.before, again.after, again.retired], [2, 2, []])
    })

    it('are those that failed or were stopped, with the shortest drain, and others take their place', async () => {
      const service = await scaled(await newUser())
      const [stopped, crashing, well] = await grown(service, 3)
      await tell(stopped!, InstanceState.Stopped, { failure: 'the host is full' })
      await tell(crashing!, InstanceState.Starting, { restartAttempt: 5 })
      const cause = {
        kind: 'replace',
        target: 9,
        failed: [stopped!, crashing!].map(({ uuid, name }) => ({ uuid, name, reason: 'it is stopped' })),
      } as const
      const { retired, added, before, after } = done(await align(service, 4, { cause }))
      assert.deepEqual(
        new Map(retired.map(({ settings, drainMs }) => [settings.name, drainMs])),
        new Map([stopped!, crashing!].map(({ name }) => [name, leastDrainMs])),
      )
      assert.deepEqual([before, after, added.length], [2, 4, 2])
      assert.ok((await clones(service)).some(({ uuid }) => uuid === well!.uuid))
    })

    it('go on with a drain that their user asked for, and others take their place at once', async () => {
      const service = await scaled(await newUser())
      const [draining] = await grown(service, 1)
      await tell(draining!, InstanceState.Draining)
      const { retired, added, before, after } = done(await align(service, 2))
      assert.deepEqual([before, after, added.length, retired[0]?.drainMs], [1, 2, 1, maxDrainMs])
    })

    it('are not those that failed but run again meanwhile', async () => {
      const service = await scaled(await newUser())
      const [recovered, slow] = await grown(service, 2)
      await tell(slow!, InstanceState.Starting)
      const cause = {
        kind: 'replace',
        target: 9,
        failed: [recovered!, slow!].map(({ uuid, name }) => ({ uuid, name, reason: 'did not start' })),
      } as const
      const { retired } = done(await align(service, 3, { cause, mayAdd: false }))
      assert.deepEqual(
        retired.map(({ settings }) => settings.instanceUuid),
        [slow!.uuid],
      )
    })

    it('are never the master, even if it is named as failed', async () => {
      const service = await scaled(await newUser())
      const { uuid, name } = service.master
      await tell(service.master, InstanceState.Starting, { restartAttempt: 5 })
      const cause = { kind: 'replace', target: 9, failed: [{ uuid, name, reason: 'crashes' }] } as const
      assert.deepEqual(done(await align(service, 1, { cause })).retired, [])
    })
  })

  it('of others are left alone, and so are other instances of the service', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const [mine, second, foreign] = [await scaled(user), await scaled(user), await scaled(other)]
    await grown(second, 2)
    await grown(foreign, 2)
    const [guest] = await rows.instances(user, { service: { existing: { uuid: mine.uuid } } })
    await grown(mine, 3)
    assert.equal(done(await align(mine, 1)).retired.length, 3)
    assert.equal((await clones(second)).length, 2)
    assert.equal((await clones(foreign)).length, 2)
    assert.deepEqual(
      (await marks(mine)).filter(({ uuid }) => uuid === guest!.uuid).map(({ isRetired }) => isRetired),
      [false],
    )
  })

  describe('when there is nothing to align', () => {
    it('are left alone: the configuration was deleted or is gone, or its master was deleted', async () => {
      const user = await newUser()
      const [deleted, gone, headless] = [await scaled(user), await scaled(user), await scaled(user)]
      for (const service of [deleted, gone, headless]) await grown(service, 1)
      await rows.unconfigure(deleted)
      await db().deleteFrom('autoscaleConfigurations').where('serviceUuid', '=', gone.uuid).execute()
      const { uuid: masterUuid } = headless.master
      await db().updateTable('instances').set({ deletedAt: now }).where('uuid', '=', masterUuid).execute()
      for (const service of [deleted, gone, headless]) {
        const before = await marks(service)
        assert.deepEqual(await align(service, 5), { closing: true })
        assert.deepEqual(await align(service, 0), { closing: true })
        assert.deepEqual(await marks(service), before)
      }
      assert.deepEqual(await align({ uuid: user.uuid }, 1), { closing: true })
    })

    it('are not added if the master is deleted while the alignment waits', async () => {
      const user = await newUser()
      const service = await scaled(user)
      const [aligned] = await whileHeld(
        (db) => lockUser(db, user.uuid),
        (blocked) => {
          const removed = markDeleted(database(), user.uuid, service.master.uuid)
          const after = blocked(1).then(() => align(service, 4))
          return [after, removed]
        },
        2,
      )
      assert.deepEqual(aligned, { closing: true })
      assert.deepEqual(await clones(service), [])
    })
  })
})

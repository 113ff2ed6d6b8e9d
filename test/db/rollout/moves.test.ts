import { strict as assert } from 'node:assert'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { routeLine } from '../../../src/db/service/feed-routes.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import { makeMove, noteProgress, withAsked } from '../../../src/db/rollout/moves.ts'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { rolloutRows } from '../../support/rollout-rows.ts'
import { settledFeed } from '../../support/settled-feed.ts'

const give = { kind: 'give' } as const
const finish = { kind: 'finish' } as const
const mount = { at: '/data', readonly: true }

describe('the moves of a rollout', () => {
  const rows = rolloutRows()
  const { newUser, published, joined, begun, move, row, divided, rollout, masterOf, fate } = rows
  const volumesOf = async (uuids: readonly { readonly uuid: string }[]) =>
    Promise.all(
      uuids.map(async (one) => {
        const { volumeUuid, volumeAt, volumeReadonly } = await row(one)
        return { volumeUuid, volumeAt, volumeReadonly }
      }),
    )

  it('give each step its share, and watch it', async () => {
    const service = await published(await newUser())
    const { rollout: begunRow } = await begun(service, { plan: { canary: [10, 50, 100] } })
    for (const [step, percent] of [10, 50, 100].entries()) {
      await move(begunRow, give)
      assert.partialDeepStrictEqual(await rollout(begunRow), { phase: 'baking', step })
      assert.equal((await divided(service))?.rolloutPercent, percent)
      if (step === 2) break
      await move(begunRow, { kind: 'next-step' })
      assert.partialDeepStrictEqual(await rollout(begunRow), { phase: 'preparing', step: step + 1 })
      assert.equal((await divided(service))?.rolloutPercent, percent, 'the share of the step before stays')
    }
    assert.deepEqual(
      (await rows.told(service)).map(({ stateAfter, facts }) => [stateAfter, facts?.percent]),
      [
        ['preparing', undefined],
        ['baking', 10],
        ['baking', 50],
        ['baking', 100],
      ],
    )
  })

  it('keep the checks from one step to the next, and forget what else was seen', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, { plan: { canary: [10, 100] } })
    const checks = { [instances[0]!.uuid]: { passed: 2, checkedAtMs: 5 } }
    await noteProgress(rows.database(), of, () => ({ checks, asked: ['start-next'] }))
    await move(of, give)
    assert.deepEqual((await rollout(of)).progress, { checks })
    await noteProgress(rows.database(), await rollout(of), (before) => ({ ...before, counted: {} }))
    await move(of, { kind: 'next-step' })
    assert.deepEqual((await rollout(of)).progress, { checks })
  })

  it('note what was seen in the present phase and step alone', async () => {
    const service = await published(await newUser())
    const { rollout: before } = await begun(service, { plan: { canary: [10, 100] } })
    await noteProgress(rows.database(), before, (now) => withAsked(now, 'start-next'))
    await noteProgress(rows.database(), before, (now) => withAsked(now, 'start-next'))
    await noteProgress(rows.database(), before, (now) => withAsked(now, 'stop-old'))
    assert.deepEqual((await rollout(before)).progress, { asked: ['start-next', 'stop-old'] })
    await move(before, give)
    await noteProgress(rows.database(), before, (now) => withAsked(now, 'stop-next'))
    assert.deepEqual((await rollout(before)).progress, {})
    await move(before, { kind: 'next-step' })
    await noteProgress(rows.database(), before, (now) => withAsked(now, 'stop-next'))
    assert.deepEqual((await rollout(before)).progress, {}, 'it is another step')
  })

  it('swap the names when the new version is that of the service, and keep the old one apart', async () => {
    const service = await published(await newUser())
    await joined(service, { name: 'api' })
    const { rollout: of, instances } = await begun(service)
    const olds = (await rows.serviceOf(service.uuid)).instances
    await move(of, give, finish)
    for (const [index, name] of ['web', 'api'].entries()) {
      const [old, next] = [olds[index]!, instances[index]!]
      assert.partialDeepStrictEqual(await row(next), { name, serviceUuid: service.uuid, rolloutUuid: null })
      assert.partialDeepStrictEqual(await row(old), {
        name: next.name,
        serviceUuid: null,
        rolloutUuid: of.uuid,
      })
    }
    assert.deepEqual(await divided(service), {
      rolloutUuid: null,
      rolloutPercent: null,
      rolloutHeld: false,
      persistent: true,
    })
    const { phase, keptUntil } = await rollout(of)
    const leftMs = (keptUntil?.getTime() ?? 0) - Date.now()
    assert.equal(phase, 'kept')
    assert.ok(leftMs > 3_500_000 && leftMs <= 3_660_000, String(leftMs))
  })

  it('take a service that was made for one instance as such again only if it still has one', async () => {
    const service = await published(await newUser())
    await joined(service, { name: 'api' })
    const { rollout: of } = await begun(service)
    await move(of, give, finish)
    assert.equal((await divided(service))?.persistent, true)
  })

  it('leave a service persistent that was so before', async () => {
    const service = await published(await newUser())
    await rows
      .db()
      .updateTable('services')
      .set({ persistent: true })
      .where('uuid', '=', service.uuid)
      .execute()
    const { rollout: of } = await begun(service)
    await move(of, give, finish)
    assert.equal((await divided(service))?.persistent, true)
  })

  it('delete the old version when its time is over', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service)
    await move(of, give, finish)
    const deleted = await move(of, { kind: 'forget' })
    assert.deepEqual(
      deleted.map(({ uuid }) => uuid),
      service.instances.map(({ uuid }) => uuid),
    )
    assert.equal(await fate(service.instances[0]!), 'deleted')
    assert.equal((await row(instances[0]!)).replaces, null)
    const { phase, endedAt } = await rollout(of)
    assert.ok(phase === 'done' && endedAt !== null)
  })

  it('give all traffic to the old version at once when it goes back', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, { plan: { canary: [40, 100] } })
    await move(of, give, { kind: 'go-back', reason: 'it is bad' })
    assert.equal((await divided(service))?.rolloutPercent, 0)
    assert.partialDeepStrictEqual(await rollout(of), {
      phase: 'returning',
      revives: false,
      reason: 'it is bad',
    })
    const given = await move(of, { kind: 'turn-back' })
    assert.deepEqual(
      given.map(({ uuid }) => uuid),
      instances.map(({ uuid }) => uuid),
    )
    assert.equal(await fate(instances[0]!), 'retired')
    assert.equal((await row(service.instances[0]!)).name, 'web')
    assert.partialDeepStrictEqual(await rollout(of), { phase: 'returned', reason: 'it is bad' })
    assert.deepEqual(await divided(service), {
      rolloutUuid: null,
      rolloutPercent: null,
      rolloutHeld: false,
      persistent: false,
    })
  })

  it('attach the kept version again before the new one goes, and swap the names back', async () => {
    const service = await published(await newUser())
    const [old] = service.instances
    const { rollout: of, instances } = await begun(service)
    await move(of, give, finish, { kind: 'go-back', reason: 'asked' })
    assert.partialDeepStrictEqual(await divided(service), {
      rolloutUuid: of.uuid,
      rolloutPercent: 100,
      persistent: true,
    })
    assert.partialDeepStrictEqual(await row(old!), { serviceUuid: service.uuid, rolloutUuid: null })
    assert.partialDeepStrictEqual(await row(instances[0]!), { name: 'web', rolloutUuid: of.uuid })
    assert.equal((await rollout(of)).revives, true)
    await move(of, { kind: 'turn-back', reason: 'and more' })
    assert.equal((await row(old!)).name, 'web')
    assert.equal(await fate(instances[0]!), 'retired')
    assert.equal((await divided(service))?.persistent, false)
    assert.equal((await rollout(of)).reason, 'asked; and more')
  })

  it('keep the old version as before if it does not come up', async () => {
    const service = await published(await newUser())
    const [old] = service.instances
    const { rollout: of, instances } = await begun(service)
    await move(of, give, finish)
    const { keptUntil } = await rollout(of)
    await rows.recall(service)
    await move(of, { kind: 'go-back', reason: 'asked' }, { kind: 'stay', reason: 'it does not come up' })
    assert.partialDeepStrictEqual(await row(old!), { serviceUuid: null, rolloutUuid: of.uuid })
    assert.partialDeepStrictEqual(await row(instances[0]!), {
      name: 'web',
      serviceUuid: service.uuid,
      rolloutUuid: null,
    })
    assert.partialDeepStrictEqual(await rollout(of), {
      phase: 'kept',
      keptUntil,
      recalledBy: null,
      reason: 'it does not come up',
    })
    assert.equal((await divided(service))?.persistent, false)
  })

  it('hand volumes over with their mount paths, and back', async () => {
    const service = await published(await newUser(), { volume: { mount, made: { sizeMb: 16 } } })
    const [old] = service.instances
    const { rollout: of, instances } = await begun(service)
    const [next] = instances
    const [before] = await volumesOf([old!])
    const none = { volumeUuid: null, volumeAt: null, volumeReadonly: false }
    assert.partialDeepStrictEqual(before, { volumeAt: '/data', volumeReadonly: true })
    assert.partialDeepStrictEqual(await rows.facts(of), {
      next: [{ hasVolume: false }],
      old: [{ hasVolume: true }],
    })
    await move(of, { kind: 'hold' })
    assert.equal((await divided(service))?.rolloutHeld, true)
    await move(of, { kind: 'move-volumes', to: 'next' }, { kind: 'move-volumes', to: 'next' })
    assert.deepEqual(await volumesOf([old!, next!]), [none, before])
    assert.partialDeepStrictEqual(await rows.facts(of), {
      next: [{ hasVolume: true }],
      old: [{ hasVolume: false }],
    })
    await move(of, give)
    assert.equal((await divided(service))?.rolloutHeld, false)
    await move(of, finish, { kind: 'go-back', reason: 'asked' }, { kind: 'hold' })
    await move(of, { kind: 'move-volumes', to: 'old' }, { kind: 'move-volumes', to: 'old' })
    assert.deepEqual(await volumesOf([old!, next!]), [before, none])
  })

  it('bring the old version up again if it stopped for its volume', async () => {
    const service = await published(await newUser(), { volume: { mount, made: { sizeMb: 16 } } })
    const { rollout: of } = await begun(service)
    await move(of, { kind: 'go-back', reason: 'before it was held' })
    assert.equal((await rollout(of)).revives, false)
    const other = await published(await newUser(), { volume: { mount, made: { sizeMb: 16 } } })
    const { rollout: held } = await begun(other)
    await move(held, { kind: 'hold' }, { kind: 'go-back', reason: 'while it was held' })
    assert.equal((await rollout(held)).revives, true)
  })

  it('have autoscale count the new version once it has all traffic, and the old one after that', async () => {
    const scaled = await rows.scaled(await newUser(), {}, { name: 'web' })
    await rows.grown(scaled, 3)
    const service = await rows.serviceOf(scaled.uuid)
    const clones = service.instances.filter(({ cloneOf }) => cloneOf !== null)
    const { rollout: of, instances } = await begun(service, { plan: { canary: [50, 100] } })
    const [next] = instances
    assert.equal((await rows.facts(of)).wanted, 2)
    const grown = await move(of, { kind: 'grow', count: 1 })
    assert.deepEqual(
      grown.map(({ cloneOf, rolloutUuid }) => [cloneOf, rolloutUuid]),
      [[next!.uuid, of.uuid]],
    )
    await move(of, give)
    assert.equal(await masterOf(service), scaled.master.uuid)
    await move(of, { kind: 'next-step' })
    assert.equal((await rows.facts(of)).wanted, 4)
    await move(of, { kind: 'grow', count: 2 }, give)
    assert.equal(await masterOf(service), next!.uuid)
    await move(of, finish)
    for (const clone of clones) assert.equal(await fate(clone), 'retired')
    assert.equal((await rows.serviceOf(service.uuid)).instances.length, 4)
    await move(of, { kind: 'go-back', reason: 'asked' }, { kind: 'turn-back' })
    assert.equal(await masterOf(service), scaled.master.uuid)
    for (const one of [next!, ...grown]) assert.equal(await fate(one), 'retired')
    assert.partialDeepStrictEqual(
      (await rows.serviceOf(service.uuid)).instances.map(({ name }) => name),
      ['web'],
    )
  })

  it('go back if autoscale has no room for one more', async () => {
    const user = await newUser({ instances: 4 })
    const scaled = await rows.scaled(user, {}, { name: 'web' })
    await rows.grown(scaled, 1)
    const service = await rows.serviceOf(scaled.uuid)
    const { rollout: of } = await begun(service)
    await rows.instances(user, { name: 'other' })
    assert.deepEqual(await move(of, { kind: 'grow', count: 1 }), [])
    const { phase, reason } = await rollout(of)
    assert.equal(phase, 'returning')
    assert.match(reason ?? '', /^the new version needs one more instance, which was refused: ./)
  })

  it('are told to gateways', async () => {
    const service = await published(await newUser())
    const read = (since?: string) => () => readFeed(rows.database(), routesQuery, since)
    let since = (await settledFeed(rows.database(), read())).revision
    const told = async () => {
      const feed = await settledFeed(rows.database(), read(since))
      since = feed.revision
      const lines = feed.rows.map((one) => routeLine(testSecretBox, one))
      return {
        rollout: lines.flatMap((line) =>
          line.kind === 'service' && line.service.uuid === service.uuid ? [line.service.rollout] : [],
        ),
        next: lines.flatMap((line) =>
          line.kind === 'instance' && line.instance.isNext === true ? [line.instance.uuid] : [],
        ),
      }
    }
    const { rollout: of, instances } = await begun(service)
    const uuid = of.uuid
    const next = [instances[0]!.uuid]
    assert.deepEqual(await told(), { rollout: [{ uuid, percent: 0, held: false }], next })
    await move(of, { kind: 'hold' })
    assert.deepEqual(await told(), { rollout: [{ uuid, percent: 0, held: true }], next: [] })
    await move(of, give)
    assert.deepEqual(await told(), { rollout: [{ uuid, percent: 100, held: false }], next: [] })
    await move(of, finish)
    assert.deepEqual(await told(), { rollout: [undefined], next: [] })
    await move(of, { kind: 'go-back', reason: 'asked' })
    assert.deepEqual(await told(), { rollout: [{ uuid, percent: 100, held: false }], next })
  })

  const inTurn: readonly RowMove[] = [
    { kind: 'hold' },
    give,
    { kind: 'next-step' },
    give,
    finish,
    { kind: 'go-back', reason: 'asked' },
    { kind: 'stay', reason: 'it does not come up' },
    { kind: 'go-back', reason: 'asked again' },
    { kind: 'turn-back' },
  ]
  it('do nothing in another phase or step than the one from which they were decided', async () => {
    const service = await published(await newUser())
    const { rollout: of } = await begun(service, { plan: { canary: [10, 100] } })
    for (const one of inTurn) {
      const before = await rollout(of)
      const first = await makeMove(rows.deps(), before, one)
      const after = await state(service.uuid, of.uuid)
      const again = await makeMove(rows.deps(), before, one)
      assert.deepEqual(await state(service.uuid, of.uuid), after, `${one.kind} again`)
      if (one.kind === 'turn-back') assert.deepEqual([first.length, again.length], [1, 0])
    }
    for (const one of inTurn) await makeMove(rows.deps(), { ...of, phase: 'preparing' }, one)
    assert.equal((await rollout(of)).phase, 'returned')
  })

  it('do nothing in the same phase of a later step', async () => {
    const service = await published(await newUser())
    const { rollout: first } = await begun(service, { plan: { canary: [10, 100] } })
    await move(first, give, { kind: 'next-step' })
    await makeMove(rows.deps(), first, give)
    assert.partialDeepStrictEqual(await rollout(first), { phase: 'preparing', step: 1 })
    assert.equal((await divided(service))?.rolloutPercent, 10)
  })

  it('are made once if two workers make them at the same moment', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service)
    await move(of, give)
    const before = await rollout(of)
    await Promise.all([makeMove(rows.deps(), before, finish), makeMove(rows.deps(), before, finish)])
    assert.equal((await row(instances[0]!)).name, 'web')
    assert.equal((await rows.told(service)).filter(({ stateAfter }) => stateAfter === 'kept').length, 1)
  })

  /** All that moves write. */
  const state = async (serviceUuid: string, uuid: string) => ({
    rollout: await rollout({ uuid }),
    service: await divided({ uuid: serviceUuid }),
    instances: await rows
      .db()
      .selectFrom('instances')
      .select(['uuid', 'name', 'serviceUuid', 'rolloutUuid', 'replaces', 'retiredAt', 'deletedAt'])
      .where('image', 'is not', null)
      .orderBy('position')
      .execute(),
    events: (await rows.told({ uuid: serviceUuid })).length,
  })
})

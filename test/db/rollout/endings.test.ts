import { strict as assert } from 'node:assert'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { deleteLeft } from '../../../src/db/rollout/ending.ts'
import { readRolloutFacts } from '../../../src/db/rollout/facts.ts'
import { deleteService } from '../../../src/db/service/services.ts'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import { decideRollout } from '../../../src/domain/rollout/decision.ts'
import { rolloutRows } from '../../support/rollout-rows.ts'
import { readRows } from '../../support/rows.ts'
import type { RolledService } from '../../support/rollout-rows.ts'

const give = { kind: 'give' } as const
const finish = { kind: 'finish' } as const
const goBack = { kind: 'go-back', reason: 'it is bad' } as const
const volume = { mount: { at: '/data', readonly: false }, made: { sizeMb: 16 } }

describe('the end of a rollout', () => {
  const rows = rolloutRows()
  const { newUser, published, joined, begun, move, row, divided, rollout, fate, recall, refusal } = rows
  const remove = (one: InstanceRow) => markDeleted(rows.database(), one.userUuid, one.uuid)
  const recallRefusal = async (service: RolledService) => {
    const outcome = await recall(service)
    assert.ok(!outcome.ok)
    return outcome.refusal
  }

  describe('by another rollout', () => {
    for (const [where, moves, given] of [
      ['is prepared', [], 'retired'],
      ['bakes', [give], 'retired'],
      ['is prepared for its next step', [give, { kind: 'next-step' }], 'retired'],
    ] as const satisfies readonly (readonly [string, readonly RowMove[], string])[]) {
      it(`gives its new version back while it ${where}`, async () => {
        const service = await published(await newUser())
        const plan = { canary: [10, 100] }
        const first = await begun(service, { plan })
        await move(first.rollout, ...moves)
        const second = await begun(service, { plan, supersede: true })
        assert.equal(await fate(first.instances[0]!), given)
        assert.partialDeepStrictEqual(await rollout(first.rollout), {
          phase: 'returned',
          reason: 'another rollout takes its place',
        })
        assert.deepEqual(
          second.instances.map(({ replaces }) => replaces),
          service.instances.map(({ uuid }) => uuid),
        )
        assert.partialDeepStrictEqual(await divided(service), {
          rolloutUuid: second.rollout.uuid,
          rolloutPercent: 0,
        })
      })
    }

    it('deletes the old version that it keeps, and replaces its new one', async () => {
      const service = await published(await newUser())
      const first = await begun(service)
      await move(first.rollout, give, finish)
      const second = await begun(service)
      assert.equal(await fate(service.instances[0]!), 'deleted')
      assert.equal((await rollout(first.rollout)).phase, 'done')
      assert.equal(second.instances[0]!.replaces, first.instances[0]!.uuid)
      assert.match(second.instances[0]!.name, /^web-/)
      assert.equal((await row(first.instances[0]!)).name, 'web')
    })

    it('remembers whether the service was made for its instance', async () => {
      const service = await published(await newUser())
      await begun(service)
      const second = await begun(service, { supersede: true })
      assert.equal(second.rollout.wasPersistent, false)
      await move(second.rollout, goBack, { kind: 'turn-back' })
      assert.equal((await divided(service))?.persistent, false)
    })

    it('has autoscale make clones of the old version again', async () => {
      const scaled = await rows.scaled(await newUser(), {}, { name: 'web' })
      const service = await rows.serviceOf(scaled.uuid)
      const first = await begun(service)
      await move(first.rollout, give)
      assert.equal(await rows.masterOf(service), first.instances[0]!.uuid)
      await begun(service, { supersede: true })
      assert.equal(await rows.masterOf(service), scaled.master.uuid)
    })

    it('is refused while it goes back', async () => {
      const service = await published(await newUser())
      const { rollout: of } = await begun(service)
      await move(of, goBack)
      assert.partialDeepStrictEqual(await refusal(service, { supersede: true }), {
        kind: 'rollout-can-not-end',
        phase: 'returning',
        reason: 'it goes back already',
      })
    })

    for (const [where, moves, phase] of [
      ['volumes are handed over', [{ kind: 'hold' }], 'preparing'],
      [
        'its new version has the volumes',
        [{ kind: 'hold' }, { kind: 'move-volumes', to: 'next' }, give],
        'baking',
      ],
    ] as const) {
      it(`is refused while ${where}`, async () => {
        const service = await published(await newUser(), { volume })
        const { rollout: of } = await begun(service)
        await move(of, ...moves)
        assert.partialDeepStrictEqual(await refusal(service, { supersede: true }), {
          kind: 'rollout-can-not-end',
          phase,
        })
        assert.equal((await rollout(of)).phase, phase)
      })
    }
  })

  describe("by the user's word", () => {
    it('is noted with who gave it, in each phase in which it can go back', async () => {
      const service = await published(await newUser())
      const { rollout: of } = await begun(service)
      for (const moves of [[], [give], [finish]]) {
        await move(of, ...moves)
        await rows
          .db()
          .updateTable('rollouts')
          .set({ recalledBy: null })
          .where('uuid', '=', of.uuid)
          .execute()
        assert.equal((await rows.facts(of)).isRecalled, false)
        const outcome = await recall(service)
        assert.ok(outcome.ok, JSON.stringify(outcome))
        assert.deepEqual((await rollout(of)).recalledBy, { by: 'platform' })
        const facts = await rows.facts(of)
        assert.equal(facts.isRecalled, true)
        assert.deepEqual(decideRollout(facts, Date.now()), {
          kind: 'go-back',
          reason: 'going back was asked for',
        })
      }
    })

    it('is refused without an old version', async () => {
      const service = await published(await newUser())
      assert.partialDeepStrictEqual(await recallRefusal(service), { kind: 'nothing-to-go-back-to' })
      const { rollout: of } = await begun(service)
      await move(of, give, finish)
      await remove(service.instances[0]!)
      assert.partialDeepStrictEqual(await recallRefusal(service), { kind: 'nothing-to-go-back-to' })
      await move(of, { kind: 'forget' })
      assert.partialDeepStrictEqual(await recallRefusal(service), { kind: 'nothing-to-go-back-to' })
    })

    it('is refused if it goes back already', async () => {
      const service = await published(await newUser())
      const { rollout: of } = await begun(service)
      await move(of, goBack)
      assert.partialDeepStrictEqual(await recallRefusal(service), {
        kind: 'rollout-goes-back',
        reason: 'it is bad',
      })
    })
  })

  describe('by the deletion of its instances', () => {
    it('goes back if the new version was deleted', async () => {
      const service = await published(await newUser())
      const { rollout: of, instances } = await begun(service)
      await remove(instances[0]!)
      const facts = await rows.facts(of)
      const decided = decideRollout(facts, Date.now())
      assert.deepEqual(decided, {
        kind: 'go-back',
        reason: 'the instances of the new version were deleted',
      })
      await move(of, goBack, { kind: 'turn-back' })
      assert.equal((await row(service.instances[0]!)).name, 'web')
      assert.equal((await divided(service))?.persistent, false)
    })

    it('leaves the service to the new version if the old one was deleted', async () => {
      const service = await published(await newUser())
      const { rollout: of, instances } = await begun(service)
      await remove(service.instances[0]!)
      assert.notEqual(await divided(service), undefined, 'the service is still there')
      await move(of, give, finish)
      assert.deepEqual(decideRollout(await rows.facts(of), Date.now()), { kind: 'forget' })
      await move(of, { kind: 'forget' })
      assert.partialDeepStrictEqual(await row(instances[0]!), {
        serviceUuid: service.uuid,
        rolloutUuid: null,
      })
      assert.equal((await divided(service))?.persistent, false)
    })

    it('brings a kept version back although the new one was deleted', async () => {
      const service = await published(await newUser())
      await rows
        .db()
        .updateTable('services')
        .set({ persistent: true })
        .where('uuid', '=', service.uuid)
        .execute()
      const { rollout: of, instances } = await begun(service)
      await move(of, give, finish)
      await remove(instances[0]!)
      await rows.recall(service)
      await move(of, { kind: 'go-back', reason: 'asked' }, { kind: 'turn-back' })
      assert.partialDeepStrictEqual(await row(service.instances[0]!), { serviceUuid: service.uuid })
    })

    it('leaves the new version and its volume where they are if there is nothing to go back to', async () => {
      const service = await published(await newUser(), { volume })
      const { rollout: of, instances } = await begun(service)
      await move(of, { kind: 'hold' }, { kind: 'move-volumes', to: 'next' }, give)
      await remove(service.instances[0]!)
      await move(of, goBack)
      for (const kind of ['stay', 'forget', 'over']) {
        const decided = decideRollout(await rows.facts(of), Date.now())
        assert.equal(decided.kind, kind)
        if (decided.kind === 'stay' || decided.kind === 'forget') await move(of, decided)
      }
      const next = await row(instances[0]!)
      assert.equal(await fate(next), undefined)
      assert.ok(next.volumeUuid !== null && next.rolloutUuid === null)
      assert.equal((await rollout(of)).phase, 'done')
      assert.equal((await divided(service))?.rolloutUuid, null)
    })

    it('begins when one of several new instances was deleted', async () => {
      const service = await published(await newUser())
      await joined(service)
      const { rollout: of, instances } = await begun(await rows.serviceOf(service.uuid))
      await move(of, give)
      assert.notEqual(decideRollout(await rows.facts(of), Date.now()).kind, 'go-back')
      await remove(instances[1]!)
      const reason = 'an instance of the new version was deleted'
      assert.deepEqual(decideRollout(await rows.facts(of), Date.now()), { kind: 'go-back', reason })
    })

    it('keeps the volume of an instance that has no counterpart any more', async () => {
      const service = await published(await newUser(), { volume })
      await joined(service)
      const { rollout: of, instances } = await begun(await rows.serviceOf(service.uuid))
      await move(of, { kind: 'hold' }, { kind: 'move-volumes', to: 'next' }, give)
      const holder = (await Promise.all(instances.map(row))).find(({ volumeUuid }) => volumeUuid !== null)
      await remove(service.instances[0]!)
      await move(of, goBack, { kind: 'turn-back' })
      assert.equal(await fate(holder!), 'retired')
      const [kept] = await readRows<{ persistent: boolean }>(rows.database(), {
        text: 'select persistent from volumes where uuid = $1',
        values: [holder!.volumeUuid],
      })
      assert.deepEqual(kept, { persistent: true })
    })

    it('takes the kept version with a service that is deleted', async () => {
      const service = await published(await newUser())
      const [old] = service.instances
      const { rollout: of, instances } = await begun(service)
      await move(of, give, finish)
      await remove(instances[0]!)
      assert.equal(await divided(service), undefined, 'it was made for its instance, and is gone with it')
      assert.equal(await fate(old!), undefined)
      const deleted = await deleteLeft(rows.database(), of.uuid)
      assert.deepEqual(
        deleted.map(({ uuid }) => uuid),
        [old!.uuid],
      )
      assert.equal(await fate(old!), 'deleted')
      assert.deepEqual(await deleteLeft(rows.database(), of.uuid), [])
    })

    it('does not outlive its service', async () => {
      const service = await published(await newUser())
      const { rollout: of, instances } = await begun(service)
      await remove(service.instances[0]!)
      await remove(instances[0]!)
      assert.equal(await deleteService(rows.database(), service.userUuid, service.uuid), 'deleted')
      assert.equal(await readRolloutFacts(rows.database(), of.uuid), undefined)
    })
  })
})

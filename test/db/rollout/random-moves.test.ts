import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { makeMove } from '../../../src/db/rollout/moves.ts'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import type { RolloutRow } from '../../../src/db/rollout/row.ts'
import type { RolloutPhase } from '../../../src/domain/rollout/phase.ts'
import { rolloutRows } from '../../support/rollout-rows.ts'
import type { RolledService } from '../../support/rollout-rows.ts'

const runs = Number(process.env['ROOST_FUZZ_RUNS'] ?? 25)
const mostSteps = 14
const volume = { mount: { at: '/data', readonly: true }, made: { sizeMb: 16 } }

/** The moves that a decision may make in each phase. */
const movesIn: Readonly<Record<RolloutPhase, readonly RowMove[]>> = {
  preparing: [
    { kind: 'grow', count: 1 },
    { kind: 'hold' },
    { kind: 'move-volumes', to: 'next' },
    { kind: 'give' },
    { kind: 'go-back', reason: 'it is sick' },
  ],
  baking: [{ kind: 'next-step' }, { kind: 'finish' }, { kind: 'go-back', reason: 'it is bad' }],
  kept: [{ kind: 'forget' }, { kind: 'go-back', reason: 'it was asked for' }],
  returning: [
    { kind: 'hold' },
    { kind: 'move-volumes', to: 'old' },
    { kind: 'stay', reason: 'it does not come up' },
    { kind: 'turn-back' },
  ],
  done: [],
  returned: [],
}

/** What happens at one step: a move of the present phase, a late one of an earlier step, or a new rollout. */
type Happening = { readonly kind: 'move' | 'late' | 'begin' | 'supersede'; readonly pick: number }
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom('move', 'move', 'move', 'move', 'late', 'begin', 'supersede'),
  pick: fc.nat(1_000),
})

describe('any sequence of moves of rollouts', () => {
  const rows = rolloutRows()

  /** What users know the instance by, and where their data is. */
  async function look({ userUuid }: RolledService) {
    const found = await rows
      .db()
      .selectFrom('instances')
      .select(['name', 'uuid', 'volumeUuid', 'retiredAt', 'serviceUuid'])
      .where('userUuid', '=', userUuid)
      .where('deletedAt', 'is', null)
      .execute()
    const named = found.filter(({ name }) => name === 'web')
    const keeping = found.filter(({ volumeUuid }) => volumeUuid !== null)
    return { named, keeping }
  }

  async function play(service: RolledService, happenings: readonly Happening[], hasVolume: boolean) {
    const earlier: { readonly row: RolloutRow; readonly move: RowMove }[] = []
    const canary = hasVolume ? [100] : [30, 100]
    let present: RolloutRow | undefined
    const done: string[] = []
    for (const { kind, pick } of happenings) {
      if (kind === 'begin' || kind === 'supersede') {
        const outcome = await rows.create(service, { plan: { canary }, supersede: kind === 'supersede' })
        if (outcome.ok) present = outcome.value.rollout
        done.push(`${kind} ${outcome.ok ? 'begun' : outcome.refusal.kind}`)
      } else if (kind === 'late') {
        const late = earlier[pick % Math.max(1, earlier.length)]
        if (late !== undefined) await makeMove(rows.deps(), late.row, late.move)
        done.push(`late ${late?.move.kind}`)
      } else if (present !== undefined) {
        present = await rows.rollout(present)
        const move = await possible(present, hasVolume, pick)
        if (move === undefined) continue
        await makeMove(rows.deps(), present, move)
        earlier.push({ row: present, move })
        done.push(`${present.phase}: ${move.kind}`)
      }
      const { named, keeping } = await look(service)
      const story = done.join(', ')
      assert.equal(named.length, 1, `one instance has the name: ${story}`)
      assert.equal(named[0]!.retiredAt, null, `and it stays: ${story}`)
      assert.equal(named[0]!.serviceUuid, service.uuid, `and it serves: ${story}`)
      assert.equal(keeping.length, hasVolume ? 1 : 0, `the volume is with one instance: ${story}`)
      assert.ok(
        keeping.every(({ retiredAt }) => retiredAt === null),
        `and that one stays: ${story}`,
      )
    }
  }

  /** A move that the decision could make now: volumes decide about some. */
  async function possible(of: RolloutRow, hasVolume: boolean, pick: number): Promise<RowMove | undefined> {
    const { next, old, isHeld } = await rows.facts(of)
    const withVolume = (side: typeof next) => side.every((one) => one.hasVolume)
    const fits = ({ kind }: RowMove): boolean => {
      if (kind === 'stay') return of.revives && !hasVolume
      if (kind === 'turn-back') return !hasVolume || withVolume(old)
      if (kind === 'give') return !hasVolume || (isHeld && withVolume(next))
      if (kind === 'move-volumes') return isHeld
      if (kind === 'next-step') return of.step + 1 < of.plan.canary.length
      if (kind === 'finish') return of.step + 1 === of.plan.canary.length
      return true
    }
    const moves = movesIn[of.phase].filter(fits)
    return moves[pick % Math.max(1, moves.length)]
  }

  for (const hasVolume of [false, true]) {
    it(`leaves one instance with the name${hasVolume ? ', and the volume with one' : ''}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: mostSteps }), async (happenings) => {
          const user = await rows.newUser({ instances: 1_000, liveInstances: 1_000, liveVcpus: 1_000 })
          const service = await rows.published(user, hasVolume ? { volume } : {})
          await play(service, [{ kind: 'begin', pick: 0 }, ...happenings], hasVolume)
        }),
        { numRuns: runs, endOnFailure: false },
      )
    }).timeout(120_000)
  }
})

import { strict as assert } from 'node:assert'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { Side, decideRollout } from '../../../src/domain/rollout/decision.ts'
import type { RolloutFacts, RolloutInstance, RolloutMove } from '../../../src/domain/rollout/decision.ts'
import { RolloutPhase } from '../../../src/domain/rollout/phase.ts'
import { defaultCheck } from '../../../src/domain/rollout/plan.ts'
import type { RolloutPlan } from '../../../src/domain/rollout/plan.ts'

const beganMs = 1_000_000
const plan: RolloutPlan = {
  canary: [100],
  bakeMs: 30_000,
  check: { port: 8080, ...defaultCheck },
  maxErrorPercent: 5,
  keepMs: 600_000,
}

function instance(name: string, more: Partial<RolloutInstance> = {}): RolloutInstance {
  const { Running: state } = InstanceState
  return { uuid: name, name, state, restartCount: 0, passed: 0, hasVolume: true, ...more }
}

function facts(more: Partial<RolloutFacts> = {}): RolloutFacts {
  return {
    plan,
    phase: RolloutPhase.Preparing,
    step: 0,
    sinceMs: beganMs,
    isRecalled: false,
    isIncomplete: false,
    revives: false,
    hasVolumes: false,
    percent: 0,
    isHeld: false,
    wanted: 1,
    next: [instance('next')],
    old: [instance('old')],
    asked: new Set(),
    ...more,
  }
}

const baking = (more: Partial<RolloutFacts> = {}): RolloutFacts =>
  facts({ phase: RolloutPhase.Baking, percent: 100, next: [instance('next', { passed: 1 })], ...more })
const stopped = { state: InstanceState.Stopped }
const kindsOf = (moves: readonly RolloutMove[]): readonly string[] => moves.map(({ kind }) => kind)

/** Makes the moves of a rollout in a small world in which everything works, until it waits for its end. */
function lead(begin: RolloutFacts, until: readonly RolloutPhase[]): readonly RolloutMove[] {
  let now = begin
  let nowMs = beganMs
  const moves: RolloutMove[] = []
  for (let count = 0; count < 1_000 && !until.includes(now.phase); count++) {
    const move = decideRollout(now, nowMs)
    if (move.kind === 'wait') {
      assert.ok(move.ms > 0)
      nowMs += move.ms
    } else moves.push(move)
    now = after(now, move, nowMs)
  }
  assert.ok(until.includes(now.phase), `${now.phase} after ${kindsOf(moves).join(', ')}`)
  return moves
}

function after(now: RolloutFacts, move: RolloutMove, nowMs: number): RolloutFacts {
  const { Baking, Preparing, Kept, Returning, Returned } = RolloutPhase
  const into = (phase: RolloutPhase): RolloutFacts => ({ ...now, phase, sinceMs: nowMs, asked: new Set() })
  const each = (side: Side, change: Partial<RolloutInstance>) => ({
    ...now,
    [side]: now[side].map((one) => ({ ...one, ...change })),
  })
  switch (move.kind) {
    case 'check':
      return {
        ...now,
        [move.side]: now[move.side].map((one) =>
          move.uuids.includes(one.uuid) ? { ...one, passed: one.passed + 1, checkedAtMs: nowMs } : one,
        ),
      }
    case 'grow':
      return { ...now, next: [...now.next, instance(`next-${now.next.length}`)] }
    case 'give':
      return { ...into(Baking), isHeld: false, percent: now.plan.canary[now.step] ?? 100 }
    case 'next-step':
      return { ...into(Preparing), step: now.step + 1 }
    case 'hold':
      return { ...now, isHeld: true }
    case 'stop':
    case 'start':
      return {
        ...each(move.side, move.kind === 'stop' ? stopped : { state: InstanceState.Running }),
        asked: new Set([...now.asked, `${move.kind}-${move.side}` as const]),
      }
    case 'move-volumes': {
      const other = move.to === Side.Next ? Side.Old : Side.Next
      const taken = { ...each(other, { hasVolume: false }) }
      return { ...taken, [move.to]: taken[move.to].map((one) => ({ ...one, hasVolume: true })) }
    }
    case 'finish':
      return into(Kept)
    case 'go-back':
      return { ...into(Returning), revives: now.hasVolumes }
    case 'turn-back':
      return into(Returned)
    case 'wait':
    case 'stay':
    case 'forget':
    case 'over':
      return now
  }
}

describe('the decisions of a rollout', () => {
  it('check the new version, give it the traffic in steps, and finish', () => {
    const steps = { ...plan, canary: [5, 50, 100] }
    assert.deepEqual(kindsOf(lead(facts({ plan: steps }), [RolloutPhase.Kept])), [
      'check',
      'give',
      'next-step',
      'give',
      'next-step',
      'give',
      'finish',
    ])
  })

  it('make copies before a step that needs them, and check those', () => {
    const moves = lead(facts({ wanted: 3 }), [RolloutPhase.Kept])
    assert.deepEqual(moves[0], { kind: 'grow', count: 2 })
    assert.ok(kindsOf(moves).indexOf('check') < kindsOf(moves).indexOf('give'))
  })

  it('check an instance at once when it is up, whenever the others were checked', () => {
    const { intervalMs } = plan.check
    const next = [instance('early', { checkedAtMs: beganMs }), instance('late')]
    const at = (nowMs: number) => decideRollout(facts({ wanted: 2, next }), nowMs)
    const late = { kind: 'check', side: 'next', uuids: ['late'] }
    assert.deepEqual(at(beganMs), late)
    assert.deepEqual(at(beganMs + intervalMs - 1), late)
    assert.deepEqual(at(beganMs + intervalMs), { ...late, uuids: ['early', 'late'] })
  })

  it('wait for what is left of the interval of the instance whose check is due first', () => {
    const { intervalMs } = plan.check
    const next = [100, 300].map((ago) => instance(`next-${ago}`, { checkedAtMs: beganMs - ago }))
    const waits = (more: Partial<RolloutFacts>, afterMs: number) =>
      decideRollout(facts({ wanted: 2, next, ...more }), beganMs + afterMs)
    assert.deepEqual(waits({}, 0), { kind: 'wait', ms: 500 }, 'no longer than the pause between two looks')
    assert.deepEqual(waits({}, intervalMs - 310), { kind: 'wait', ms: 10 })
    assert.equal(waits({}, intervalMs - 300).kind, 'check')
    const healthy = next.map((one, index) => (index === 1 ? { ...one, passed: 1 } : one))
    assert.equal(waits({ next: healthy }, intervalMs - 300).kind, 'wait', 'what is healthy is not due')
    const starting = next.map((one) => ({ ...one, state: InstanceState.Starting }))
    assert.equal(waits({ next: starting }, intervalMs).kind, 'wait', 'what is not up is not due')
  })

  it('keep the interval between the checks of each instance that needs several', () => {
    const often = { ...plan, check: { ...plan.check, times: 3 } }
    let now = facts({ plan: often, wanted: 2, next: [instance('one'), instance('two')] })
    const checkedAt: Record<string, number[]> = { one: [], two: [] }
    let nowMs = beganMs
    for (let move = decideRollout(now, nowMs); move.kind !== 'give'; move = decideRollout(now, nowMs)) {
      if (move.kind === 'wait') nowMs += Math.min(move.ms, 370)
      else if (move.kind === 'check') for (const uuid of move.uuids) checkedAt[uuid]!.push(nowMs - beganMs)
      now = after(now, move, nowMs)
      // The second instance comes up later than the first.
      const isUp = nowMs >= beganMs + 400
      now = {
        ...now,
        next: now.next.map((one) =>
          one.name === 'two' ? { ...one, state: isUp ? InstanceState.Running : InstanceState.Starting } : one,
        ),
      }
    }
    for (const [name, times] of Object.entries(checkedAt)) {
      assert.equal(times.length, 3, name)
      assert.ok(
        times.slice(1).every((ms, index) => ms - times[index]! >= often.check.intervalMs),
        `${name}: ${times.join(', ')}`,
      )
    }
  })

  it('hand a volume over while requests wait, and never have both versions up with it', () => {
    const begin = facts({
      hasVolumes: true,
      next: [instance('next', { ...stopped, hasVolume: false })],
    })
    assert.deepEqual(
      lead(begin, [RolloutPhase.Kept]).map((move) =>
        'side' in move ? `${move.kind} ${move.side}` : move.kind,
      ),
      ['hold', 'stop old', 'move-volumes', 'start next', 'check next', 'give', 'finish'],
    )
  })

  it('hand the volume back if the new version fails with it', () => {
    const begin = baking({
      hasVolumes: true,
      old: [instance('old', { ...stopped, hasVolume: false })],
      isRecalled: true,
    })
    const first = decideRollout(begin, beganMs)
    assert.equal(first.kind, 'go-back')
    const then = { ...after(begin, first, beganMs), isRecalled: false }
    assert.deepEqual(
      lead(then, [RolloutPhase.Returned]).map((move) =>
        'side' in move ? `${move.kind} ${move.side}` : move.kind,
      ),
      ['hold', 'stop next', 'move-volumes', 'start old', 'check old', 'turn-back'],
    )
  })

  it('go back if the new version is not healthy in time, and say what the last check found', () => {
    const silent = facts({ next: [instance('next', { failed: 'nothing listens on port 8080' })] })
    const late = beganMs + plan.check.limitMs
    assert.equal(decideRollout(silent, late - 1).kind, 'check')
    assert.deepEqual(decideRollout(silent, late), {
      kind: 'go-back',
      reason: 'next of the new version was not healthy within 120 s: nothing listens on port 8080',
    })
  })

  it('go back if an instance of the new version ends, or was started again', () => {
    const trouble = 'its application ended with exit code 3'
    const reason = `next of the new version failed: ${trouble}`
    for (const one of [
      { ...stopped, trouble },
      { restartCount: 1, trouble },
    ])
      for (const make of [facts, baking])
        assert.deepEqual(decideRollout(make({ next: [instance('next', one)] }), beganMs), {
          kind: 'go-back',
          reason,
        })
    const deleted = decideRollout(baking({ next: [] }), beganMs)
    assert.deepEqual(deleted, { kind: 'go-back', reason: 'the instances of the new version were deleted' })
    const incomplete = decideRollout(baking({ isIncomplete: true }), beganMs)
    assert.deepEqual(incomplete, { kind: 'go-back', reason: 'an instance of the new version was deleted' })
  })

  it('go back if too many requests fail, but not for one or two', () => {
    const move = (requests: number, errors: number) =>
      decideRollout(baking({ traffic: { requests, errors, latencyMs: 10 } }), beganMs)
    assert.equal(move(2, 2).kind, 'wait')
    assert.equal(move(100, 5).kind, 'wait')
    assert.deepEqual(move(100, 6), {
      kind: 'go-back',
      reason: 'with 100 % of the traffic, 6 of 100 requests to the new version failed (6 %, more than 5 %)',
    })
  })

  it('go back if requests take too long, where a bound is set', () => {
    const slow = { requests: 100, errors: 0, latencyMs: 1_000 }
    assert.equal(decideRollout(baking({ traffic: slow }), beganMs).kind, 'wait')
    const bounded = { ...plan, maxLatencyMs: 500 }
    const move = decideRollout(baking({ plan: bounded, traffic: slow }), beganMs)
    assert.match(move.kind === 'go-back' ? move.reason : '', /took up to 1000 ms, more than 500 ms$/)
    const few = decideRollout(baking({ plan: bounded, traffic: { ...slow, requests: 3 } }), beganMs)
    assert.equal(few.kind, 'wait')
  })

  it('go back at a word in every phase, as long as there is an old version', () => {
    for (const phase of [RolloutPhase.Preparing, RolloutPhase.Baking, RolloutPhase.Kept])
      assert.equal(
        decideRollout(facts({ phase, isRecalled: true, keptUntilMs: beganMs + 1 }), beganMs).kind,
        'go-back',
        phase,
      )
    const gone = facts({ phase: RolloutPhase.Kept, isRecalled: true, old: [], keptUntilMs: beganMs + 1 })
    assert.equal(decideRollout(gone, beganMs).kind, 'forget')
  })

  it('leave the service with the new version if there is no old one to go back to', () => {
    const returning = { phase: RolloutPhase.Returning, old: [] }
    for (const more of [{}, { revives: true }, { revives: true, hasVolumes: true, isHeld: true }])
      assert.deepEqual(decideRollout(facts({ ...returning, ...more }), beganMs), {
        kind: 'stay',
        reason: 'the old version was deleted',
      })
    assert.equal(decideRollout(facts({ ...returning, next: [] }), beganMs).kind, 'turn-back')
  })

  it('stop the old version once it is kept, and forget it when its time is over', () => {
    const kept = facts({ phase: RolloutPhase.Kept, keptUntilMs: beganMs + 10_000, next: [] })
    assert.deepEqual(decideRollout(kept, beganMs), { kind: 'stop', side: 'old' })
    const asked = { ...kept, asked: new Set(['stop-old'] as const) }
    assert.deepEqual(decideRollout(asked, beganMs), { kind: 'wait', ms: 10_000 })
    const down = { ...asked, old: [instance('old', stopped)] }
    assert.deepEqual(decideRollout(down, beganMs + 10_000), { kind: 'forget' })
  })

  it('let the requests of an old version end that is not kept at all, but not for ever', () => {
    const kept = facts({ phase: RolloutPhase.Kept, keptUntilMs: beganMs, next: [] })
    assert.deepEqual(decideRollout(kept, beganMs), { kind: 'stop', side: 'old' })
    const asked = { ...kept, asked: new Set(['stop-old'] as const) }
    assert.equal(decideRollout(asked, beganMs + 59_999).kind, 'wait')
    assert.equal(decideRollout(asked, beganMs + 60_000).kind, 'forget')
    const down = { ...asked, old: [instance('old', stopped)] }
    assert.equal(decideRollout(down, beganMs).kind, 'forget')
  })

  it('give the traffic back at once if the old version still runs', () => {
    assert.deepEqual(decideRollout(facts({ phase: RolloutPhase.Returning }), beganMs), { kind: 'turn-back' })
  })

  it('bring a kept version up and check it before it gets the traffic', () => {
    const returning = facts({ phase: RolloutPhase.Returning, revives: true, old: [instance('old', stopped)] })
    assert.deepEqual(kindsOf(lead(returning, [RolloutPhase.Returned])), ['start', 'check', 'turn-back'])
  })

  it('start a kept version once all of its instances are down, so that each of them comes up', () => {
    for (const state of [InstanceState.Draining, InstanceState.Stopping]) {
      const old = [instance('one', stopped), instance('two', { state })]
      const returning = facts({ phase: RolloutPhase.Returning, revives: true, old })
      assert.equal(decideRollout(returning, beganMs).kind, 'wait')
    }
    const old = [instance('one', stopped), instance('two', stopped)]
    const returning = facts({ phase: RolloutPhase.Returning, revives: true, old })
    assert.deepEqual(kindsOf(lead(returning, [RolloutPhase.Returned])), ['start', 'check', 'turn-back'])
  })

  it('stay with the new version if the old one does not come up', () => {
    const asked = new Set(['start-old'] as const)
    const old = [instance('old', { ...stopped, failed: 'it can not be started: no host has room' })]
    const returning = facts({ phase: RolloutPhase.Returning, revives: true, old, asked })
    assert.equal(decideRollout(returning, beganMs).kind, 'wait')
    assert.deepEqual(decideRollout(returning, beganMs + plan.check.limitMs), {
      kind: 'stay',
      reason: 'old of the old version did not come up: it can not be started: no host has room',
    })
  })

  it('never start the old version without its volume, however long that takes', () => {
    const returning = facts({
      phase: RolloutPhase.Returning,
      revives: true,
      hasVolumes: true,
      isHeld: true,
      old: [instance('old', { ...stopped, hasVolume: false })],
      asked: new Set(['stop-next'] as const),
    })
    assert.equal(decideRollout(returning, beganMs + 10 * plan.check.limitMs).kind, 'wait')
  })

  it('do nothing more when it is over', () => {
    for (const phase of [RolloutPhase.Done, RolloutPhase.Returned])
      assert.deepEqual(decideRollout(facts({ phase }), beganMs), { kind: 'over' })
  })
})

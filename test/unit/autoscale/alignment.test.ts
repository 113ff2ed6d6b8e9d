import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { AutoscaleOutcome } from '../../../src/domain/autoscale/outcome.ts'
import { Drain, planAlignment, targetAfter } from '../../../src/domain/autoscale/alignment.ts'
import type { StandingMember } from '../../../src/domain/autoscale/alignment.ts'
import { Standing, sizeOf } from '../../../src/domain/autoscale/members.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'

const { Counted, Asleep, Warming, Restarting, Failed, Down, Away } = Standing

function member(name: string, standing: Standing, more: Partial<StandingMember> = {}): StandingMember {
  const state = stateOf[standing]
  const made = { createdAtMs: 0, stateSinceMs: 0, startCount: 1, restartAttempt: 0, nodeId: 'local' }
  return { uuid: name, name, isMaster: name === 'master', state, standing, ...made, ...more }
}

const stateOf = {
  [Counted]: InstanceState.Running,
  [Asleep]: InstanceState.Standby,
  [Warming]: InstanceState.Running,
  [Restarting]: InstanceState.Stopped,
  [Failed]: InstanceState.Stopped,
  [Down]: InstanceState.Stopped,
  [Away]: InstanceState.Running,
} satisfies Record<Standing, InstanceState>

function replacing(names: readonly string[]): AutoscaleOutcome {
  return { kind: 'replace', target: 1, failed: names.map((name) => ({ uuid: name, name, reason: '' })) }
}

const plan = (members: readonly StandingMember[], target: number, failed: readonly string[] = []) => {
  const cause = failed.length === 0 ? {} : { cause: replacing(failed) }
  const { size, missing, retire } = planAlignment(members, { target, ...cause })
  return { size, missing, retire: retire.map(({ name, drain }) => `${name}${drainWords[drain]}`) }
}

const drainWords = {
  [Drain.None]: '',
  [Drain.Cooldown]: ' drains',
  [Drain.AsAsked]: ' drains as asked',
} satisfies Record<Drain, string>

describe('the target after an alignment', () => {
  const refused = { size: 2, target: 4, refusal: 'no room' }
  it('is the target before it', () => {
    for (const cause of ['replace', 'align', 'resize'] as const)
      assert.equal(targetAfter({ size: 2, target: 4 }, { cause, minSize: 1 }), 4)
  })
  it('stays the same after a refusal, unless a policy raised it: then it is the size that was reached, or min_size', () => {
    for (const cause of ['replace', 'align'] as const)
      assert.equal(targetAfter(refused, { cause, minSize: 1 }), 4)
    assert.equal(targetAfter(refused, { cause: 'resize', minSize: 1 }), 2)
    assert.equal(targetAfter(refused, { cause: 'resize', minSize: 3 }), 3)
  })
})

describe('an alignment', () => {
  const master = member('master', Counted)

  it('gives the surplus back: first members that start or wait for a restart, then sleepers, then the youngest', () => {
    const members = [
      master,
      member('old', Counted),
      member('sleeper', Asleep),
      member('restarting', Restarting),
      member('starting', Warming, { state: InstanceState.Starting }),
      member('warming', Warming),
      member('young', Counted),
    ]
    const order = ['starting', 'restarting', 'sleeper', 'young', 'warming', 'old'].map(
      (name) => `${name} drains`,
    )
    for (let target = 7; target >= 1; target--)
      assert.deepEqual(plan(members, target), {
        size: target,
        missing: 0,
        retire: order.slice(0, 7 - target),
      })
    assert.deepEqual(plan(members, 0), { size: 1, missing: 0, retire: order })
  })

  it('gives a member that is being woken back last, because a client waits for it', () => {
    const waking = { state: InstanceState.Starting, startCount: 2 }
    const members = [
      master,
      member('waking', Warming, waking),
      member('crashed', Warming, { ...waking, restartAttempt: 1 }),
      member('sleeper', Asleep),
      member('young', Counted),
    ]
    const order = ['crashed', 'sleeper', 'young', 'waking'].map((name) => `${name} drains`)
    assert.deepEqual(plan(members, 1).retire, order)
  })

  it('gives back clones that failed or are down, and counts them as missing', () => {
    const members = [master, member('failed', Failed), member('down', Down), member('well', Counted)]
    assert.deepEqual(plan(members, 4), { size: 2, missing: 2, retire: ['failed', 'down'] })
    assert.deepEqual(plan(members, 1), { size: 1, missing: 0, retire: ['failed', 'down', 'well drains'] })
  })

  it('leaves a drain that the user asked for as it is', () => {
    const members = [
      master,
      member('draining', Down, { state: InstanceState.Draining }),
      member('stopping', Down, { state: InstanceState.Stopping }),
    ]
    assert.deepEqual(plan(members, 1), {
      size: 1,
      missing: 0,
      retire: ['draining drains as asked', 'stopping'],
    })
  })

  it('does not give back clones whose host is gone, and counts them as missing', () => {
    const members = [{ ...master, standing: Away }, member('away', Away), member('well', Counted)]
    assert.deepEqual(plan(members, 3), { size: 1, missing: 2, retire: [] })
    assert.deepEqual(plan([...members, member('other', Counted)], 1), {
      size: 1,
      missing: 0,
      retire: ['other drains'],
    })
  })

  it('replaces clones that were found failed a moment ago, except those that serve by now', () => {
    const members = [
      master,
      member('warming', Warming),
      member('restarting', Restarting),
      member('counted', Counted),
      member('asleep', Asleep),
    ]
    const names = members.map(({ name }) => name)
    assert.deepEqual(plan(members, 5, names), { size: 3, missing: 2, retire: ['warming', 'restarting'] })
  })

  it('keeps surplus clones while it replaces others, because they may stand in for members that do not serve yet', () => {
    const members = [
      member('master', Warming, { state: InstanceState.Starting }),
      member('well', Counted),
      member('failed', Failed),
    ]
    assert.deepEqual(plan(members, 1, ['failed']), { size: 2, missing: 0, retire: ['failed'] })
  })

  it('counts a master that is down as missing, and never gives it back', () => {
    for (const standing of [Down, Failed])
      assert.deepEqual(plan([member('master', standing)], 1, ['master']), { size: 0, missing: 1, retire: [] })
  })

  it('reaches the wanted size from any members, and then changes nothing more', () => {
    const standings = fc.array(fc.constantFrom(...Object.values(Standing)), { maxLength: 12 })
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(Standing)),
        standings,
        fc.integer({ min: 1, max: 14 }),
        fc.array(fc.integer({ min: 0, max: 11 })),
        (first, others, target, lost) => {
          const members = [
            member('master', first),
            ...others.map((standing, index) => member(String(index), standing)),
          ]
          const wanted = lost.length === 0 ? { target } : { target, cause: replacing(lost.map(String)) }
          const { size, missing, retire } = planAlignment(members, wanted)
          assert.equal(size + missing, lost.length === 0 ? target : Math.max(target, size))
          assert.ok(!retire.some(({ name }) => name === 'master'))
          assert.equal(new Set(retire.map(({ uuid }) => uuid)).size, retire.length)
          const staying = members.filter(({ uuid }) => !retire.some((one) => one.uuid === uuid))
          assert.equal(sizeOf(staying), size)
          assert.deepEqual(planAlignment(staying, wanted), { size, missing, retire: [] })
        },
      ),
    )
  })
})

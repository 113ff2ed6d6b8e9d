import assert from 'node:assert/strict'
import { observationsPerMetric } from '../../../src/domain/autoscale/looks.ts'
import { scaleInSettleMs } from '../../../src/domain/autoscale/shrinking.ts'
import { AutoscaleStory, cpuPolicy, longAgoMs, member } from './story.ts'

const master = member('master')
const [one, two] = [member('one'), member('two')]
/** The look at which an idle service gives back: three looks for the first metric, then the settle time. */
const settledAfter = observationsPerMetric + scaleInSettleMs / 1_000

describe('an autoscaled service grows', () => {
  it('at the third look, by the mean of the instances', () => {
    const story = new AutoscaleStory([master, one])
    assert.deepEqual(story.look({ master: 500, one: 700 }).rest, { kind: 'observing', looks: 1 })
    assert.deepEqual(story.look({ master: 500, one: 700 }).rest, { kind: 'observing', looks: 2 })
    const { outcome, size, metrics } = story.look({ master: 500, one: 700 })
    const step = { lowerBound: 600, upperBound: 800, adjustment: 1 }
    const decision = {
      from: 2,
      to: 3,
      policy: 'cpu',
      metric: 'cpu',
      value: 600,
      step,
      counted: 2,
      proposed: 3,
    }
    assert.deepEqual(outcome, { kind: 'resize', target: 3, decision })
    assert.equal(size, 2)
    assert.equal(metrics?.cpu, 600)
  })

  it('by the mean of three looks: one peak is not enough', () => {
    const story = new AutoscaleStory([master])
    for (const cpu of [500, 500, 790, 500, 500]) assert.equal(story.look({ master: cpu }).outcome, undefined)
  })

  it('up to max_size, and not beyond', () => {
    const story = new AutoscaleStory([master], { maxSize: 2 })
    const { outcome } = story.lookUpTo(3, { master: 1_000 })
    assert.equal(outcome?.kind === 'resize' && outcome.target, 2)
    assert.equal(outcome?.kind === 'resize' && outcome.decision.proposed, 3)
    const full = new AutoscaleStory([master, one], { maxSize: 2 })
    const { rest } = full.lookUpTo(5, { master: 1_000, one: 1_000 })
    assert.equal(rest?.kind === 'at-bound' && rest.bound, 'max_size')
  })

  it('not again for the same step while the new instance warms up, but again for a higher step', () => {
    const young = member('one', { startedAtMs: 2_500 })
    const story = new AutoscaleStory([master])
    assert.equal(story.lookUpTo(3, { master: 700 }).outcome?.kind, 'resize')
    story.members = [master, young]
    story.target = 2
    assert.deepEqual(story.look({ master: 700, one: 700 }).rest, { kind: 'warming', names: ['one'] })
    const higher = story.look({ master: 1_500, one: 700 }).outcome
    assert.equal(higher?.kind === 'resize' && higher.target, 3)
  })

  it('by looks that begin anew when another instance has warmed up', () => {
    const story = new AutoscaleStory([master, member('one', { startedAtMs: 0 })])
    story.look({ master: 500 })
    story.look({ master: 500 })
    assert.deepEqual(story.look({ master: 900, one: 900 }).rest, { kind: 'observing', looks: 1 })
  })

  it('by looks that follow each other: after a gap they begin anew', () => {
    const story = new AutoscaleStory([master])
    story.look({ master: 900 })
    story.look({ master: 900 })
    story.nowMs += 3_000
    assert.deepEqual(story.look({ master: 900 }).rest, { kind: 'observing', looks: 1 })
    story.nowMs -= 2_000
    assert.deepEqual(story.look({ master: 900 }).rest, { kind: 'observing', looks: 1 })
  })

  it('only if the known load is enough for that: an instance whose load is unknown counts as 0', () => {
    const story = new AutoscaleStory([master, one])
    assert.deepEqual(story.lookUpTo(9, { master: 1_000, one: 'silent' }).rest, {
      kind: 'load-unknown',
      names: ['one'],
    })
    assert.equal(story.lookUpTo(3, { master: 1_200, one: 'silent' }).outcome?.kind, 'resize')
  })

  it('by the load of the other instances alone, where a host is lost', () => {
    const lost = [member('one', { isHostLost: true }), member('two', { state: 'standby', isHostLost: true })]
    const story = new AutoscaleStory([master, ...lost])
    const { outcome, metrics } = story.lookUpTo(3, { master: 700, one: 'silent' })
    assert.equal(outcome?.kind === 'resize' && outcome.target, 4)
    assert.equal(metrics?.cpu, 700)
    story.target = 3
    assert.deepEqual(story.lookUpTo(60, { master: 0, one: 'silent' }).rest, {
      kind: 'load-unknown',
      names: ['one', 'two'],
    })
    // A host that is lost by its heartbeats may still report loads. Such a load counts.
    assert.equal(story.lookUpTo(3, { master: 700, one: 100 }).metrics?.cpu, 400)
    const alone = new AutoscaleStory([member('master', { isHostLost: true })])
    assert.equal(alone.lookUpTo(9, { master: 'silent' }).metrics?.cpu, 0)
  })

  it('not for one busy instance beside sleepers', () => {
    const story = new AutoscaleStory([master, member('one', { state: 'standby' })])
    assert.equal(story.lookUpTo(9, { master: 1_000 }).outcome, undefined)
    // A sleeping instance counts as 0, even if its host still reports a load from before it fell asleep.
    assert.equal(story.lookUpTo(3, { master: 1_000, one: 900 }).metrics?.cpu, 500)
  })

  it('not before the block after a failure is over', () => {
    const story = new AutoscaleStory([master])
    story.blockedUntilMs = 5_000
    const { rest, looks } = story.lookUpTo(5, { master: 700 })
    assert.deepEqual([rest, looks], [{ kind: 'blocked', untilMs: 5_000 }, 5])
    assert.equal(story.look({ master: 700 }).outcome?.kind, 'resize')
  })
})

describe('an autoscaled service gives back', () => {
  const quiet = { master: 100, one: 100, two: 100 }

  it('when a smaller size was right at every look of the settle time, and tells when that time ends', () => {
    const story = new AutoscaleStory([master, one, two])
    story.lookUpTo(3, quiet)
    const { rest } = story.look(quiet)
    assert.equal(rest?.kind === 'settling' && rest.untilMs, 2_000 + scaleInSettleMs)
    const { outcome, looks } = story.lookUpTo(99, quiet)
    assert.equal(looks + 4, settledAfter)
    assert.equal(outcome?.kind === 'resize' && outcome.target, 2)
  })

  it('later where the load rose for a look', () => {
    const story = new AutoscaleStory([master, one, two])
    story.lookUpTo(10, quiet)
    // The mean of the last three looks is (100 + 100 + 650) / 3 = 283. That is still in the lowest step.
    const { rest } = story.look({ master: 650, one: 650, two: 650 })
    assert.equal(rest?.kind, 'would-return')
    const next = story.look(quiet).rest
    assert.equal(next?.kind === 'settling' && next.untilMs, 11_000 + scaleInSettleMs)
    story.lookUpTo(99, quiet)
    assert.equal(story.nowMs - 1_000, 11_000 + scaleInSettleMs)
  })

  it('no instance that the policies would want back at once', () => {
    const policies = [cpuPolicy({ upperBound: 500, adjustment: -1 }, { lowerBound: 500, adjustment: 1 })]
    const story = new AutoscaleStory([master, one], { policies })
    const { outcome, rest } = story.lookUpTo(60, { master: 499, one: 499 })
    assert.equal(outcome, undefined)
    assert.equal(rest?.kind === 'would-return' && Math.round(rest.wantedBack.predicted), 1_098)
  })

  it('only instances that would not be needed if the load were a tenth higher', () => {
    const policies = [cpuPolicy({ upperBound: 500, adjustment: -1 }, { lowerBound: 500, adjustment: 1 })]
    const tight = new AutoscaleStory([master, one], { policies })
    assert.equal(tight.lookUpTo(60, { master: 228, one: 228 }).outcome, undefined)
    const spare = new AutoscaleStory([master, one], { policies })
    assert.equal(spare.lookUpTo(60, { master: 227, one: 227 }).outcome?.kind, 'resize')
  })

  it('down to the smallest size that lasts, where a policy wants even fewer', () => {
    const policies = [
      cpuPolicy(
        { upperBound: 300, adjustment: -5 },
        { lowerBound: 300, upperBound: 500, adjustment: 0 },
        { lowerBound: 500, adjustment: 1 },
      ),
    ]
    const story = new AutoscaleStory(
      ['master', 'a', 'b', 'c', 'd', 'e'].map((name) => member(name)),
      { policies },
    )
    const { outcome } = story.lookUpTo(60, { master: 200, a: 200, b: 200, c: 200, d: 200, e: 200 })
    // With the reserve of a tenth the load is 1 320 millicores: 440 for each of three instances, or 660 for
    // each of two. Two would want another instance, because that step begins at 500.
    assert.equal(outcome?.kind === 'resize' && outcome.target, 3)
    assert.equal(outcome?.kind === 'resize' && outcome.decision.proposed, 1)
  })

  it('down to min_size', () => {
    const story = new AutoscaleStory([master, one], { minSize: 2 })
    const { rest } = story.lookUpTo(60, quiet)
    assert.equal(rest?.kind === 'at-bound' && rest.bound, 'min_size')
  })

  it('sleepers, too', () => {
    const asleep = ['one', 'two'].map((name) => member(name, { state: 'standby' }))
    const { outcome } = new AutoscaleStory([master, ...asleep]).lookUpTo(60, { master: 300 })
    assert.equal(outcome?.kind === 'resize' && outcome.target, 2)
  })

  it('the part of its target that was refused, if the existing instances are enough', () => {
    const story = new AutoscaleStory([master, one])
    story.target = 4
    story.blockedUntilMs = 60_000
    const { outcome, looks } = story.lookUpTo(60, { master: 400, one: 400 })
    assert.equal(outcome?.kind === 'resize' && outcome.target, 2)
    assert.equal(looks, settledAfter)
    // This load needs three instances. So only the fourth of the target is given up.
    const needy = new AutoscaleStory([master, one])
    needy.target = 4
    needy.blockedUntilMs = 60_000
    const fewer = needy.lookUpTo(59, { master: 700, one: 700 }).outcome
    assert.equal(fewer?.kind === 'resize' && fewer.target, 3)
  })

  it('nothing while a load is unknown, and waits anew afterwards', () => {
    const story = new AutoscaleStory([master, one, two])
    story.lookUpTo(settledAfter - 1, quiet)
    assert.equal(story.look({ ...quiet, two: 'silent' }).outcome, undefined)
    const { looks, outcome } = story.lookUpTo(60, quiet)
    assert.equal(outcome?.kind, 'resize')
    assert.equal(looks, settledAfter)
  })

  it('nothing before the settle time has passed again after a gap between two looks', () => {
    const story = new AutoscaleStory([master, one, two])
    story.lookUpTo(settledAfter - 1, quiet)
    story.nowMs += 60_000
    assert.equal(story.lookUpTo(60, quiet).looks, settledAfter)
  })

  it('nothing while an instance warms up, starts or waits for a restart', () => {
    const busy = [
      member('two', { startedAtMs: 0 }),
      member('two', { state: 'starting', startCount: 2 }),
      member('two', { state: 'stopped', restartNextAtMs: 1 }),
    ]
    for (const another of busy) {
      const story = new AutoscaleStory([master, one, another], { warmupMs: 600_000 })
      assert.deepEqual(story.lookUpTo(60, quiet).rest, { kind: 'warming', names: ['two'] })
    }
  })

  it('nothing where no policy applies', () => {
    const policies = [cpuPolicy({ lowerBound: 200, adjustment: 1 })]
    const story = new AutoscaleStory([master, one], { policies })
    assert.deepEqual(story.lookUpTo(60, quiet).rest, { kind: 'no-step' })
    const without = new AutoscaleStory([master, one], { policies: [] })
    assert.deepEqual(without.lookUpTo(60, quiet).rest, { kind: 'no-policy' })
  })

  it('nothing where one of several policies wants the present size', () => {
    const needy = {
      ...cpuPolicy({ lowerBound: 0, adjustment: 2 }),
      name: 'floor',
      adjustmentType: 'exact',
    } as const
    const give = cpuPolicy({ upperBound: 300, adjustment: -1 })
    const { outcome, rest } = new AutoscaleStory([master, one], { policies: [give, needy] }).lookUpTo(
      60,
      quiet,
    )
    assert.equal(outcome, undefined)
    assert.equal(rest?.kind === 'right-size' && rest.judgement.policy, 'floor')
  })
})

describe('an autoscaled service is put right', () => {
  it('when a clone failed, before anything else', () => {
    const story = new AutoscaleStory([master, member('one', { state: 'stopped', failure: 'no disk' })])
    story.target = 9
    const failed = [{ uuid: 'uuid-one', name: 'one', reason: 'it is stopped: no disk' }]
    assert.deepEqual(story.look({}).outcome, { kind: 'replace', target: 6, failed })
  })

  it('when it does not have the size that was decided on', () => {
    const story = new AutoscaleStory([master, one])
    story.target = 3
    assert.deepEqual(story.look({}).outcome, { kind: 'align', target: 3, size: 2 })
    story.target = 1
    assert.deepEqual(story.look({ master: 1 }).outcome, { kind: 'align', target: 1, size: 2 })
  })

  it('when that size is out of bounds', () => {
    const story = new AutoscaleStory([master, one], { minSize: 3 })
    assert.deepEqual(story.look({}).outcome, { kind: 'align', target: 3, size: 2 })
    story.configuration = { ...story.configuration, minSize: 1, maxSize: 1 }
    assert.deepEqual(story.look({ master: 1 }).outcome, { kind: 'align', target: 1, size: 2 })
  })

  it('when its master is stopped, and when it is back', () => {
    const story = new AutoscaleStory([member('master', { state: 'stopped' })])
    assert.deepEqual(story.look({}).outcome, { kind: 'align', target: 1, size: 0 })
    story.members = [master, one]
    assert.deepEqual(story.look({ master: 1 }).outcome, { kind: 'align', target: 1, size: 2 })
  })

  it('but keeps the instances that stand in for a master until the master serves again', () => {
    const starting = member('master', { state: 'starting', startCount: 2 })
    const story = new AutoscaleStory([starting, one])
    story.target = 1
    const waits = { kind: 'standing-in', names: ['master'] } as const
    assert.deepEqual(story.look({ one: 400 }).rest, waits)
    // The row of the master says `running`. But its load is unknown, so nothing shows yet that it serves.
    story.members = [master, one]
    assert.deepEqual(story.look({ master: 'silent', one: 400 }).rest, waits)
    assert.deepEqual(story.look({ master: 'silent', one: 'silent' }).rest, waits)
    assert.deepEqual(story.look({ master: 0, one: 400 }).outcome, { kind: 'align', target: 1, size: 2 })
  })

  it('by giving back instances that do not serve yet, although the master is starting', () => {
    const starting = member('master', { state: 'starting', startCount: 2 })
    const fresh = member('two', { state: 'starting' })
    const story = new AutoscaleStory([starting, one, fresh])
    story.target = 2
    assert.equal(story.look({ one: 400 }).outcome?.kind, 'align')
  })

  it('by replacing instances whose host is gone, and by giving back the surplus when they are back and serve', () => {
    const away = [member('one', { isHostGone: true }), member('two', { isHostGone: true })]
    const story = new AutoscaleStory([master, ...away])
    story.target = 3
    assert.deepEqual(story.look({ master: 900 }).outcome, { kind: 'align', target: 3, size: 1 })
    story.members = [master, one, two, member('new'), member('other')]
    const back = { master: 400, new: 400, other: 400 }
    assert.equal(story.look({ ...back, one: 'silent', two: 'silent' }).rest?.kind, 'standing-in')
    assert.equal(story.look({ ...back, one: 0, two: 0 }).outcome?.kind, 'align')
  })

  it('by giving back at once, but by adding only when the block after a failure is over', () => {
    const story = new AutoscaleStory([master, one])
    story.blockedUntilMs = 1_500
    story.target = 1
    assert.equal(story.look({ master: 1 }).outcome?.kind, 'align')
    story.target = 3
    assert.deepEqual(story.look({}).rest, { kind: 'blocked', untilMs: 1_500 })
    assert.equal(story.look({}).outcome?.kind, 'align')
  })

  it('and a failure is forgotten when a clone that was created after it stays up for 10 s', () => {
    const young = member('one', { createdAtMs: 1, startedAtMs: 1_000 })
    const story = new AutoscaleStory([master, young])
    story.failedAtMs = 0
    const { outcome, looks } = story.lookUpTo(60, { master: 400, one: 400 })
    assert.deepEqual([outcome, looks], [{ kind: 'recovered' }, 12])
  })

  it('and a failure is not forgotten when an older clone, a master or a restarted clone stays up', () => {
    const others = [
      member('one', { createdAtMs: 0, startedAtMs: 1 }),
      member('one', { createdAtMs: 1, startedAtMs: 1, restartAttempt: 1 }),
      member('master', { createdAtMs: 1, startedAtMs: 1 }),
    ]
    for (const other of others) {
      const story = new AutoscaleStory([member('first', { createdAtMs: longAgoMs }), other])
      story.failedAtMs = 0
      assert.equal(story.lookUpTo(60, { first: 400, one: 400, master: 400 }).outcome, undefined)
    }
  })
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  failureOf,
  sizeOf,
  Standing,
  standingOf,
  startLimitMs,
} from '../../../src/domain/autoscale/members.ts'
import type { AutoscaleMember } from '../../../src/domain/autoscale/members.ts'
import { instanceStates } from '../../../src/domain/instance/state.ts'

const nowMs = 1_000_000
const warmup = { warmupMs: 2_000 }

/** A clone that warmed up long ago, with the given changes. A field given as `undefined` is removed. */
type Told = { readonly [Key in keyof AutoscaleMember]?: AutoscaleMember[Key] | undefined }
function clone(told: Told = {}): AutoscaleMember {
  const usual = {
    uuid: 'c',
    name: 'web-c',
    isMaster: false,
    nodeId: 'one',
    state: 'running',
    stateSinceMs: 0,
    createdAtMs: 0,
    startedAtMs: 5_000,
    startCount: 1,
    restartAttempt: 0,
  }
  const all = Object.entries({ ...usual, ...told }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(all) as unknown as AutoscaleMember
}
const master = (told: Told = {}): AutoscaleMember => clone({ name: 'web', isMaster: true, ...told })
const comesBack = {
  state: 'starting',
  startCount: 2,
  stateSinceMs: nowMs - startLimitMs,
  failure: 'no room',
} as const
const fresh = { createdAtMs: nowMs - 1_000, startedAtMs: undefined }

describe('the standing of an instance', () => {
  const cases: [title: string, member: AutoscaleMember, standing: Standing][] = [
    ['counts when it runs', clone(), 'counted'],
    ['counts from the end of its warm-up on', clone({ startedAtMs: nowMs - 2_000 }), 'counted'],
    ['warms up until then', clone({ startedAtMs: nowMs - 1_999 }), 'warming'],
    ['warms up as a master, too', master({ startedAtMs: nowMs - 1_999 }), 'warming'],
    ['counts at once when it has run before', clone({ startedAtMs: nowMs, startCount: 2 }), 'counted'],
    ['warms up when it runs since an unknown time', clone({ ...fresh, state: 'running' }), 'warming'],
    ['warms up when it starts', clone({ ...fresh, state: 'starting' }), 'warming'],
    ['warms up when it starts again', clone({ state: 'starting', startCount: 2 }), 'warming'],
    ['sleeps in standby', clone({ state: 'standby' }), 'asleep'],
    ['sleeps before its first start', clone({ state: 'standby', startedAtMs: undefined }), 'asleep'],
    ['waits for its restart', clone({ state: 'stopped', restartNextAtMs: nowMs + 1 }), 'restarting'],
    ['waits for its restart as a master', master({ state: 'stopped', restartNextAtMs: nowMs }), 'restarting'],
    ['is down as a master that is stopped', master({ state: 'stopped' }), 'down'],
    ['is down while it drains', clone({ state: 'draining' }), 'down'],
    ['is down while it stops', master({ state: 'stopping' }), 'down'],
    ['has failed as a clone that is stopped', clone({ state: 'stopped' }), 'failed'],
    ['has failed with the third restart in a row', clone({ restartAttempt: 3 }), 'failed'],
    ['has not failed with the second', clone({ restartAttempt: 2 }), 'counted'],
    ['is down as a master with the third restart in a row', master({ restartAttempt: 3 }), 'down'],
    [
      'has failed when it did not start within a minute',
      clone({ state: 'starting', startedAtMs: undefined, createdAtMs: nowMs - 60_000 }),
      'failed',
    ],
    [
      'has not failed a moment before',
      clone({ state: 'starting', startedAtMs: undefined, createdAtMs: nowMs - 59_999 }),
      'warming',
    ],
    ['is away with its host', clone({ isHostLost: true, isHostGone: true }), 'away'],
    ['is away with its host, asleep', clone({ state: 'standby', isHostGone: true }), 'away'],
    ['is away with its host, a master', master({ isHostGone: true }), 'away'],
    ['is no less down for its host being gone', clone({ state: 'draining', isHostGone: true }), 'down'],
    ['counts while its host is silent and not gone yet', clone({ isHostLost: true }), 'counted'],
    ['has failed when it does not wake', clone({ state: 'standby', failure: 'no room' }), 'failed'],
    ['is down as a master that does not wake', master({ state: 'standby', failure: 'no room' }), 'down'],
    ['has failed when it does not come up again for a minute', clone(comesBack), 'failed'],
    ['is down as a master that does not come up again for a minute', master(comesBack), 'down'],
    [
      'warms up a moment before that',
      clone({ ...comesBack, stateSinceMs: nowMs - startLimitMs + 1 }),
      'warming',
    ],
    [
      'warms up as long as nothing failed, behind others',
      clone({ ...comesBack, failure: undefined }),
      'warming',
    ],
    [
      'has not failed as a master that starts for long',
      master({ state: 'starting', startedAtMs: undefined }),
      'warming',
    ],
  ]
  for (const [title, member, standing] of cases)
    it(title, () => assert.equal(standingOf(member, warmup, nowMs), standing))

  const any = fc.record({
    isMaster: fc.boolean(),
    state: fc.constantFrom(...instanceStates),
    createdAtMs: fc.integer({ min: nowMs - 120_000, max: nowMs + 1_000 }),
    startedAtMs: fc.option(fc.integer({ min: nowMs - 120_000, max: nowMs + 1_000 }), { nil: undefined }),
    startCount: fc.nat({ max: 3 }),
    restartAttempt: fc.nat({ max: 5 }),
    restartNextAtMs: fc.option(fc.integer({ min: nowMs - 1_000, max: nowMs + 300_000 }), { nil: undefined }),
    failure: fc.option(fc.constant('no such image'), { nil: undefined }),
    isHostGone: fc.constantFrom(true, undefined),
  })

  it('is failed exactly if there is a reason to replace it, and never for a master', () => {
    fc.assert(
      fc.property(any, (told) => {
        const member = clone(told)
        const failure = failureOf(member, nowMs)
        assert.equal(standingOf(member, warmup, nowMs) === Standing.Failed, failure !== undefined)
        if (told.isMaster) assert.equal(failure, undefined)
      }),
    )
  })

  it('counts no instance that does not run', () => {
    fc.assert(
      fc.property(any, (told) => {
        const standing = standingOf(clone(told), warmup, nowMs)
        if (standing === Standing.Counted) assert.equal(told.state, 'running')
        if (standing === Standing.Asleep) assert.equal(told.state, 'standby')
      }),
    )
  })
})

describe('a size', () => {
  it('counts members that serve, sleep or are about to, and none that are down or failed', () => {
    const standings = ['counted', 'asleep', 'warming', 'restarting', 'failed', 'down', 'away'] as const
    const each = standings.map((standing) => sizeOf([{ standing }]))
    assert.deepEqual(each, [1, 1, 1, 1, 0, 0, 0])
    assert.equal(sizeOf(standings.map((standing) => ({ standing }))), 4)
  })
})

describe('why a clone is replaced', () => {
  const cases: [member: AutoscaleMember, reason: string | undefined][] = [
    [clone(), undefined],
    [clone({ state: 'stopped' }), 'it is stopped'],
    [clone({ isHostGone: true }), undefined],
    [clone({ state: 'standby', failure: 'no room' }), 'it does not wake: no room'],
    [clone(comesBack), 'it does not come up again: no room'],
    [master(comesBack), undefined],
    [clone({ state: 'stopped', startedAtMs: undefined, failure: 'no image' }), 'it did not start: no image'],
    [clone({ restartAttempt: 4, failure: 'no disk' }), 'it was restarted 4 times in a row: no disk'],
    [
      clone({ state: 'starting', startedAtMs: undefined, failure: 'no room' }),
      'it did not start within 60 s: no room',
    ],
  ]
  for (const [member, reason] of cases)
    it(`is told: ${reason ?? 'not at all'}`, () => assert.equal(failureOf(member, nowMs), reason))
})

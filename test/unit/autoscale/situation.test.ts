import assert from 'node:assert/strict'
import { longestRoundsPerView } from '../../../activities/autoscale/service-observer.ts'
import { failuresForgottenMs } from '../../../src/domain/autoscale/life.ts'
import type { AutoscaleLife } from '../../../src/domain/autoscale/life.ts'
import { observationIntervalMs } from '../../../src/domain/autoscale/looks.ts'
import { explainSituation, staleAfterMs } from '../../../src/domain/autoscale/situation.ts'
import type { AutoscaleSituation } from '../../../src/domain/autoscale/situation.ts'

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const watching: AutoscaleLife = { phase: 'watching', target: 2, failures: 0 }
const told = (situation: Partial<AutoscaleSituation>) =>
  explainSituation({ name: 'web', configured: 'yes', leaving: [], ...situation }, nowMs)
const seenAgo = (ms: number) =>
  told({ seen: { life: watching, view: { atMs: nowMs - ms, rest: { kind: 'no-policy' } } } })

describe('how a service is scaled at present is told', () => {
  it('with as many clones as are leaving', () => {
    const leaving = (names: readonly string[]) => told({ configured: 'closing', leaving: names }).now
    assert.deepEqual(
      [[], ['a'], ['a', 'b']].map(leaving),
      ['no clone is left', '1 clone is leaving', '2 clones are leaving'].map(
        (clones) => `web is not configured any more: ${clones}`,
      ),
    )
  })

  it('as it was seen, also where thousands are watched and views take turns', () => {
    const turnMs = longestRoundsPerView * observationIntervalMs
    assert.equal(seenAgo(turnMs + 10_000).now, 'web has no policy')
    assert.match(seenAgo(staleAfterMs + 1).now, /^web was seen last at 2026-01-02T03:02:/)
  })

  it('without a promise for a time at which no workflow may run', () => {
    const { now, next } = told({})
    assert.match(now, /^web is not watched/)
    assert.match(next, /within seconds; where a person terminated it, the next change of its policies does$/)
  })

  it('with the last failure, until that failure is forgotten', () => {
    const failure = (ms: number) =>
      told({ seen: { life: { ...watching, failures: 2, failedAtMs: nowMs - ms, trouble: 'no room' } } })
        .failure
    assert.equal(failure(failuresForgottenMs), 'no room (2 times in a row)')
    assert.equal(failure(failuresForgottenMs + 1), undefined)
  })

  it('with the error of an activity that failed and is tried again', () => {
    const broken = { attempt: 3, message: 'the master is not started before its clones are gone' }
    const life = { phase: 'closing', failures: 0 } as const
    const { failure } = told({ configured: 'closing', leaving: ['a'], seen: { life, broken } })
    assert.equal(failure, 'attempt 3: the master is not started before its clones are gone')
  })
})

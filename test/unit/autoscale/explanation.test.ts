import assert from 'node:assert/strict'
import type { AutoscaleOutcome, Judgement, RestReason } from '../../../src/domain/autoscale/outcome.ts'
import {
  amountOf,
  explainDecision,
  explainOutcome,
  explainRest,
} from '../../../src/domain/autoscale/explanation.ts'
import type { DecisionReport } from '../../../src/domain/autoscale/report.ts'

const judgement: Judgement = {
  policy: 'busy',
  metric: 'cpu',
  value: 640.4,
  step: { lowerBound: 500, upperBound: 800, adjustment: 1 },
  counted: 2,
  proposed: 3,
}
const idle: Judgement = { ...judgement, value: 120, step: { upperBound: 300, adjustment: -2 }, proposed: 0 }
const busyWords =
  'policy busy wants 3, because 640 millicores per instance, the mean of 2, is in its step with lower bound 500 inclusive, upper bound 800 exclusive'
const idleWords =
  'policy busy wants 0, because 120 millicores per instance, the mean of 2, is in its step with upper bound 300 exclusive'
const resize = (from: number, to: number, why: Judgement): AutoscaleOutcome => ({
  kind: 'resize',
  target: to,
  decision: { from, to, ...why },
})
const failed = [{ uuid: 'u', name: 'web-a', reason: 'it is stopped' }]

describe('what autoscale does is told', () => {
  const cases: [outcome: AutoscaleOutcome, words: string][] = [
    [resize(2, 3, judgement), `goes from 2 to 3: ${busyWords}`],
    [resize(1, 2, judgement), `goes from 1 to 2: ${busyWords}; max_size allows 2`],
    [
      resize(3, 1, idle),
      `goes from 3 to 1: ${idleWords}; 1 is as far down as min_size, and a load that may rise again, allow`,
    ],
    [
      { kind: 'align', target: 3, size: 2 },
      'goes from 2 to 3: that many were decided on, within min_size and max_size',
    ],
    [{ kind: 'replace', target: 2, failed }, 'replaces web-a (it is stopped)'],
    [{ kind: 'recovered' }, 'has an instance again that stays up: what failed before counts no more'],
  ]
  for (const [outcome, words] of cases) it(words, () => assert.equal(explainOutcome(outcome), words))
})

describe('why a size stays is told', () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5)
  const cases: [rest: RestReason, now: RegExp, next: RegExp][] = [
    [{ kind: 'no-policy' }, /has no policy/, /until a policy is added/],
    [{ kind: 'observing', looks: 1 }, /1 of 3 looks/, /in 2 s/],
    [
      { kind: 'warming', names: ['web-a', 'web-b'] },
      /waits for web-a and web-b to start/,
      /before all are warm/,
    ],
    [{ kind: 'load-unknown', names: ['web-a'] }, /what web-a does: no host tells/, /none is given back/],
    [{ kind: 'no-step' }, /no policy has a step/, /in a step that wants one/],
    [{ kind: 'right-size', judgement }, new RegExp(busyWords), /leaves that step/],
    [{ kind: 'at-bound', bound: 'max_size', judgement }, /at its max_size: policy busy wants 3/, /no more/],
    [
      { kind: 'at-bound', bound: 'min_size', judgement: idle },
      /at its min_size: policy busy wants 0/,
      /no fewer/,
    ],
    [{ kind: 'standing-in', names: ['web'] }, /keeps more than it needs until web serves/, /too much/],
    [{ kind: 'blocked', untilMs: atMs }, /adds nothing/, /at 2026-01-02T03:04:05.000Z it is tried again/],
    [
      { kind: 'settling', untilMs: atMs, judgement: idle },
      /does not need all/,
      /at 2026-01-02T03:04:05.000Z/,
    ],
    [
      {
        kind: 'would-return',
        judgement: idle,
        wantedBack: { policy: 'other', metric: 'in_flight', predicted: 11 },
      },
      /with one fewer, other would want it back at up to 11 requests in flight per instance, 10 % of reserve/,
      /fallen further/,
    ],
  ]
  for (const [rest, now, next] of cases)
    it(`for ${rest.kind}`, () => {
      const words = explainRest(rest)
      assert.match(words.now, now)
      assert.match(words.next, next)
    })

  it('by another clock where there is one', () => {
    const { next } = explainRest({ kind: 'blocked', untilMs: 5 }, (ms) => `moment ${ms}`)
    assert.match(next, /^at moment 5 /)
  })

  it('with five names at most', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    assert.match(explainRest({ kind: 'warming', names }).now, /waits for a, b, c, d, e and 2 more to/)
  })
})

describe('a decision that was kept is told', () => {
  const kept: DecisionReport = {
    cause: resize(2, 3, judgement),
    before: 2,
    after: 3,
    added: ['web-x'],
    givenBack: [],
  }
  const cases: [report: DecisionReport, words: string][] = [
    [kept, `Went from 2 to 3, added web-x: ${busyWords}.`],
    [
      { ...kept, after: 2, added: [], refusal: 'the quota of 2 instances is used up' },
      `Stayed at 2: ${busyWords}. Not all could be added: the quota of 2 instances is used up.`,
    ],
    [
      { ...kept, cause: { kind: 'replace', target: 2, failed }, after: 1, added: [], givenBack: ['web-a'] },
      'Went from 2 to 1, gave back web-a: web-a (it is stopped) is replaced.',
    ],
    [
      { ...kept, cause: { kind: 'closed' }, after: 1, added: [], givenBack: ['web-a', 'web-b'] },
      'Went from 2 to 1, gave back web-a and web-b: its configuration was deleted.',
    ],
  ]
  for (const [report, words] of cases) it(words, () => assert.equal(explainDecision(report), words))
})

describe('an amount is told in its unit', () => {
  it('with as many digits as mean something, and on its side of a bound', () => {
    const told = [
      amountOf('cpu', 1_234.56),
      amountOf('in_flight', 2.345),
      amountOf('in_flight', 2),
      amountOf('requests_per_second', 0.06),
      amountOf('cpu', 1_234.4),
      amountOf('in_flight', 9.96),
    ]
    assert.deepEqual(told, [
      '1234 millicores per instance',
      '2.3 requests in flight per instance',
      '2 requests in flight per instance',
      '0.1 requests per second per instance',
      '1234 millicores per instance',
      '9.9 requests in flight per instance',
    ])
  })
})

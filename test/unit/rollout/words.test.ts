import { strict as assert } from 'node:assert'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import type { RolloutFacts, RolloutInstance } from '../../../src/domain/rollout/decision.ts'
import { RolloutPhase } from '../../../src/domain/rollout/phase.ts'
import { defaultCheck } from '../../../src/domain/rollout/plan.ts'
import { explainRollout } from '../../../src/domain/rollout/words.ts'
import { ServiceReach, explainService } from '../../../src/domain/service/explanation.ts'

const beganMs = Date.parse('2026-01-02T03:04:05Z')

const fresh: RolloutInstance = {
  uuid: 'one',
  name: 'web-abcde',
  state: InstanceState.Starting,
  restartCount: 0,
  passed: 0,
  hasVolume: true,
}

const facts: RolloutFacts = {
  plan: {
    canary: [5, 50, 100],
    bakeMs: 30_000,
    check: { port: 8080, ...defaultCheck },
    maxErrorPercent: 5,
    keepMs: 600_000,
  },
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
  next: [fresh],
  old: [{ ...fresh, uuid: 'old', name: 'web', state: InstanceState.Running }],
  asked: new Set(),
}

const { percent: _, ...undivided } = facts

const cases: readonly [title: string, facts: RolloutFacts, now: string, next: RegExp][] = [
  [
    'which instance is awaited, and by when it has to be healthy',
    facts,
    'step 1 of 3: waits until healthy: web-abcde (starting); the old version has all traffic',
    /^the new version gets 5 % of the traffic; .* not healthy by 2026-01-02T03:06:05\.000Z$/,
  ],
  [
    'why the last check of an instance failed',
    { ...facts, step: 1, percent: 5, next: [{ ...fresh, failed: 'nothing listens on port 8080' }] },
    'step 2 of 3: waits until healthy: web-abcde (nothing listens on port 8080); the new version has 5 % of the traffic so far',
    /gets 50 %/,
  ],
  [
    'that requests wait while a volume is handed over',
    { ...facts, isHeld: true, hasVolumes: true },
    'step 1 of 3: waits until healthy: web-abcde (starting); requests wait at the gateways meanwhile',
    /^the new version gets/,
  ],
  [
    'how long a step is watched, and which one follows',
    { ...facts, phase: RolloutPhase.Baking, percent: 5 },
    'step 1 of 3: watches the new version with 5 % of the traffic until 2026-01-02T03:04:35.000Z',
    /^the new version is prepared for 50 %; it goes back if/,
  ],
  [
    'what becomes of both versions after the last step',
    { ...facts, phase: RolloutPhase.Baking, step: 2, percent: 100 },
    'step 3 of 3: watches the new version with 100 % of the traffic until 2026-01-02T03:04:35.000Z',
    /^the new version is that of the service, and the old one is kept for 600 s; it goes back if/,
  ],
  [
    'until when the old version is kept, and how to go back to it',
    { ...undivided, phase: RolloutPhase.Kept, keptUntilMs: beganMs },
    'the new version serves; the old one is kept until 2026-01-02T03:04:05.000Z',
    /^the old version is deleted then; until then `roost rollback shop` goes back$/,
  ],
  [
    'that it goes back, and who has to come up for that',
    { ...facts, phase: RolloutPhase.Returning, percent: 100, old: [{ ...fresh, name: 'web' }] },
    'goes back: web comes up; the new version has 100 % of the traffic so far',
    /^the new version is deleted when the old one has all traffic$/,
  ],
  [
    'that it goes back soon because it was asked to',
    { ...facts, isRecalled: true },
    'step 1 of 3: waits until healthy: web-abcde (starting); the old version has all traffic',
    /^it goes back to the old version, as it was asked to$/,
  ],
]

describe('the explanation of a rollout', () => {
  for (const [title, rollout, now, next] of cases) {
    it(`says ${title}`, () => {
      const explanation = explainRollout(rollout, 'shop')
      assert.equal(explanation.now, now)
      assert.match(explanation.next, next)
      assert.equal(explanation.phase, rollout.phase)
      assert.equal(explanation.percent, rollout.percent)
    })
  }

  it('is part of that of its service, whose requests wait while a volume is handed over', () => {
    const service = {
      name: 'shop',
      softLimit: 5,
      ports: [{ port: 443, destinationPort: 8080, handlers: [] }],
      domains: [{ fqdn: 'shop.metro.test' }],
      instances: [],
    }
    const reachOf = (isHeld: boolean) => explainService({ ...service, rollout: { ...facts, isHeld } }).reach
    assert.equal(reachOf(true), ServiceReach.Waits)
    assert.equal(reachOf(false), ServiceReach.Refused)
  })

  it('has words for every phase', () => {
    for (const phase of Object.values(RolloutPhase)) {
      const { now, next } = explainRollout({ ...facts, phase }, 'shop')
      assert.ok(now.length > 10 && next.length > 10, phase)
    }
  })
})

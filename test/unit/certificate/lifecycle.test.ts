import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  certificateWakeAtMs,
  certificateWork,
  CertificateStep,
  decideCertificate,
  newCertificateLife,
} from '../../../src/domain/certificate/lifecycle.ts'
import type {
  CertificateEventKind,
  CertificateLife,
  CertificateLifeEvent,
} from '../../../src/domain/certificate/lifecycle.ts'
import { maxAttempts } from '../../../src/domain/certificate/schedule.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'

const { Pending, Valid, Error: Failed } = CertificateState
const { Order, Prove, Finalise, Install } = CertificateStep
const minuteMs = 60_000
const dayMs = 86_400_000
const nowMs = 1_000 * dayMs
const spread = 0.5
const validity = { notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + 89 * dayMs }

const lives = {
  new: newCertificateLife,
  'at a step': { state: Pending, step: Prove, attempt: 2, failure: 'before', revision: 5 },
  'put off': {
    state: Pending,
    step: Finalise,
    attempt: 2,
    nextAtMs: nowMs + 5 * minuteMs,
    delays: 3,
    failure: 'away',
    revision: 6,
  },
  'between attempts': {
    state: Pending,
    attempt: 2,
    nextAtMs: nowMs + 5 * minuteMs,
    failure: 'elsewhere',
    revision: 7,
  },
  'valid, asking': {
    state: Valid,
    attempt: 0,
    nextAtMs: nowMs + 60 * dayMs,
    validity,
    asking: true,
    revision: 8,
  },
  'valid, at rest': {
    state: Valid,
    attempt: 0,
    nextAtMs: nowMs + 60 * dayMs,
    askAtMs: nowMs + dayMs,
    validity,
    revision: 8,
  },
  renewing: { state: Valid, step: Prove, attempt: 1, validity, revision: 9 },
  'between renewals': {
    state: Valid,
    attempt: 3,
    nextAtMs: nowMs + 5 * minuteMs,
    failure: 'elsewhere',
    validity,
    revision: 10,
  },
  'given up': { state: Failed, attempt: 8, failure: 'elsewhere', revision: 11 },
  over: { state: Valid, attempt: 0, revision: 12, deleted: true },
} satisfies Record<string, CertificateLife>
type LifeName = keyof typeof lives

const events = {
  begin: { kind: 'begin' },
  tick: { kind: 'tick' },
  'step-done': { kind: 'step-done', step: Prove },
  installed: { kind: 'installed', validity },
  'step-failed': { kind: 'step-failed', step: Prove, verdict: 'failed', reason: 'why' },
  'renewal-advised': { kind: 'renewal-advised', advice: {} },
  retry: { kind: 'retry' },
  gone: { kind: 'gone' },
  delete: { kind: 'delete' },
} satisfies Record<CertificateEventKind, CertificateLifeEvent>

/**
 * What each event changes in each life. An event that is not named here changes nothing. The events `gone`
 * and `delete` are not in this table: they end every life.
 */
type Change = Partial<Record<keyof CertificateLife, unknown>>
const changes: Record<LifeName, Partial<Record<CertificateEventKind, Change>>> = {
  new: {
    begin: { step: Order, attempt: 1 },
    retry: { step: Order, attempt: 1 },
  },
  'at a step': {
    'step-done': { step: Finalise },
    'step-failed': { step: undefined, nextAtMs: nowMs + 10 * minuteMs, failure: 'why' },
  },
  'put off': { retry: { nextAtMs: undefined, delays: undefined } },
  'between attempts': { retry: { step: Order, attempt: 1, nextAtMs: undefined } },
  'valid, asking': {
    'renewal-advised': { asking: undefined, askAtMs: nowMs + dayMs },
  },
  'valid, at rest': {},
  renewing: {
    'step-done': { step: Finalise },
    'step-failed': { step: undefined, nextAtMs: nowMs + minuteMs, failure: 'why' },
  },
  'between renewals': { retry: { step: Order, attempt: 1, nextAtMs: undefined } },
  'given up': { retry: { state: Pending, step: Order, attempt: 1 } },
  over: {},
}

const at = (ms = nowMs) => ({ nowMs: ms, spread })
const plain = (life: object): unknown => JSON.parse(JSON.stringify({ ...life, revision: undefined }))

describe('the life of a requested certificate', () => {
  for (const name of Object.keys(lives) as LifeName[]) {
    for (const event of Object.values(events)) {
      const life: CertificateLife = lives[name]
      const ends = event.kind === 'gone' || event.kind === 'delete'
      const change = changes[name][event.kind]
      const title = ends ? 'is over' : change === undefined ? 'changes nothing' : 'moves on'
      it(`${name}: ${event.kind} ${title}`, () => {
        const next = decideCertificate(life, event, at())
        if (ends) return assert.equal(next.deleted, true)
        assert.deepEqual(plain(next), plain({ ...life, ...change }))
      })
    }
  }

  it('waits 1, 10 and 100 minutes between attempts and then a day, and has eight of them', () => {
    let life = decideCertificate(newCertificateLife, events.begin, at())
    let ms = nowMs
    const waits: number[] = []
    while (life.state === Pending) {
      life = decideCertificate(life, { ...events['step-failed'], step: Order }, at(ms))
      if (life.nextAtMs === undefined) break
      waits.push((life.nextAtMs - ms) / minuteMs)
      ms = life.nextAtMs
      life = decideCertificate(life, events.tick, at(ms))
    }
    assert.deepEqual(waits, [1, 10, 100, 1440, 1440, 1440, 1440])
    assert.equal(life.state, Failed)
    assert.equal(ms - nowMs, 4 * dayMs + 111 * minuteMs)
  })

  it('waits as long as an authority asks before the next attempt, from a minute to 30 days', () => {
    const told = [0, 5 * minuteMs, 3 * dayMs, 29 * dayMs, 400 * dayMs].map((afterMs) => {
      const event = { ...events['step-failed'], verdict: 'later', retryAtMs: nowMs + afterMs } as const
      const { nextAtMs, step, attempt } = decideCertificate(lives['at a step'], event, at())
      assert.deepEqual([step, attempt], [Prove, 2])
      return nextAtMs! - nowMs
    })
    assert.deepEqual(told, [minuteMs, 5 * minuteMs, 3 * dayMs, 29 * dayMs, 30 * dayMs])
  })

  it('is pending with a new sequence of attempts when the certificate expired without a renewal', () => {
    const { notAfterMs } = validity
    for (const name of ['valid, asking', 'valid, at rest', 'between renewals'] as const) {
      const ended = decideCertificate(lives[name], events.tick, at(notAfterMs))
      assert.deepEqual([ended.state, ended.step, ended.attempt], [Pending, Order, 1], name)
    }
    const underWay = decideCertificate(lives['renewing'], events.tick, at(notAfterMs))
    assert.deepEqual([underWay.state, underWay.step, underWay.attempt], [Pending, Prove, 1])
  })

  it('stays valid if the authority refuses a renewal, and tries again daily', () => {
    const refused = { ...events['step-failed'], verdict: 'refused' } as const
    const life = decideCertificate(lives['renewing'], refused, at())
    assert.deepEqual([life.state, life.nextAtMs], [Valid, nowMs + dayMs])
    assert.equal(decideCertificate(lives['at a step'], refused, at()).state, Failed)
  })

  it('renews when the authority advises, but not later than its own last moment', () => {
    const advised = (startMs: number, endMs: number): number =>
      decideCertificate(
        lives['valid, asking'],
        { kind: 'renewal-advised', advice: { window: { startMs, endMs } } },
        at(),
      ).nextAtMs! - nowMs
    assert.equal(advised(nowMs + 10 * dayMs, nowMs + 12 * dayMs), 11 * dayMs)
    assert.equal(advised(nowMs - 10 * dayMs, nowMs - 9 * dayMs), minuteMs)
    assert.equal(advised(nowMs + 88 * dayMs, nowMs + 100 * dayMs), 80 * dayMs)
  })

  it('goes on from its row with the attempt that was under way, which is not counted again', () => {
    const recorded: CertificateLife = { state: Pending, attempt: 3, failure: 'elsewhere', revision: 9 }
    const life = decideCertificate(recorded, events.begin, at())
    assert.deepEqual([life.step, life.attempt, life.revision], [Order, 3, 9])
    const waits = { ...recorded, nextAtMs: nowMs + minuteMs }
    assert.deepEqual(decideCertificate(waits, events.begin, at()), waits)
  })

  it('never does two things, never exceeds its attempts, never rests without a deadline, and counts what readers see', () => {
    fc.assert(
      fc.property(
        fc.array(anyMove, { maxLength: 120 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        live,
      ),
      { numRuns: 500 },
    )
  })
})

const steps = Object.values(CertificateStep)
const anyStep = fc.constantFrom(...steps)
const anyEvent: fc.Arbitrary<CertificateLifeEvent | 'as due' | 'succeed'> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('succeed' as const) },
  { weight: 6, arbitrary: fc.constant('as due' as const) },
  fc.constantFrom<CertificateLifeEvent>({ kind: 'begin' }, { kind: 'tick' }, { kind: 'retry' }),
  fc.record({ kind: fc.constant('step-done' as const), step: anyStep }),
  fc.record({
    kind: fc.constant('step-failed' as const),
    step: anyStep,
    verdict: fc.constantFrom('failed' as const, 'later' as const, 'refused' as const),
    reason: fc.constantFrom('one', 'another'),
  }),
  fc
    .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 40 }))
    .map(([start, length]): CertificateLifeEvent => {
      const startMs = nowMs + start * dayMs
      const window = { startMs, endMs: startMs + length * dayMs }
      return { kind: 'renewal-advised', advice: { window } }
    }),
)
const anyMove = fc.tuple(anyEvent, fc.integer({ min: 0, max: 2 * dayMs }))

type AnyMove = typeof anyMove extends fc.Arbitrary<infer Value> ? Value : never

function live(moves: readonly AnyMove[], spreadOfIt: number): void {
  let ms = nowMs
  let life = decideCertificate(newCertificateLife, { kind: 'begin' }, { nowMs: ms, spread: spreadOfIt })
  for (const [move, passesMs] of moves) {
    const wakeAtMs = certificateWakeAtMs(life)
    ms = move === 'as due' && wakeAtMs !== undefined ? Math.max(ms, wakeAtMs) : ms + passesMs
    const before = life
    life = decideCertificate(life, eventOf(move, life, ms), { nowMs: ms, spread: spreadOfIt })
    assertSound(before, life)
    assert.deepEqual(JSON.parse(JSON.stringify(life)), life, 'plain JSON')
  }
}

function eventOf(move: AnyMove[0], life: CertificateLife, ms: number): CertificateLifeEvent {
  if (move === 'as due') return { kind: 'tick' }
  if (move !== 'succeed') return move
  const work = certificateWork(life)
  if (work === undefined) return { kind: 'tick' }
  if (work === 'ask') return { kind: 'renewal-advised', advice: {} }
  if (work !== Install) return { kind: 'step-done', step: work }
  return { kind: 'installed', validity: { notBeforeMs: ms - 3_600_000, notAfterMs: ms + 90 * dayMs } }
}

function assertSound(before: CertificateLife, life: CertificateLife): void {
  const { state, attempt, nextAtMs, failure, revision, step } = life
  const work = certificateWork(life)
  assert.ok(!(life.asking === true && step !== undefined), 'it asks while an attempt is under way')
  if (state === Pending) assert.ok(attempt >= 1 && attempt <= maxAttempts, `attempt ${attempt}`)
  const rests = work === undefined && certificateWakeAtMs(life) === undefined
  assert.equal(rests, state === Failed, 'rests for good only in error')
  const seen = ({ state: a, attempt: b, nextAtMs: c, failure: d }: CertificateLife) => [a, b, c, d]
  const isSame = JSON.stringify(seen(before)) === JSON.stringify([state, attempt, nextAtMs, failure])
  assert.equal(revision, before.revision + (isSame ? 0 : 1))
  if (before.step !== undefined && step !== undefined && before.step !== step) {
    const order = steps.indexOf(step) - steps.indexOf(before.step)
    assert.equal(order, 1, `from ${before.step} to ${step}`)
  }
}

import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { AutoscaleOutcome } from '../../../src/domain/autoscale/outcome.ts'
import {
  AutoscalePhase,
  autoscaleWork,
  decideAutoscale,
  failuresForgottenMs,
  firstBlockMs,
  longestBlockMs,
  newAutoscaleLife,
} from '../../../src/domain/autoscale/life.ts'
import type { AutoscaleLife, AutoscaleLifeEvent } from '../../../src/domain/autoscale/life.ts'
import type { WatchResult } from '../../../src/domain/autoscale/watch.ts'

const { Watching, Aligning, Closing, Over } = AutoscalePhase

const decision = {
  from: 1,
  to: 3,
  policy: 'busy',
  metric: 'cpu',
  value: 900,
  step: { adjustment: 2 },
  counted: 1,
  proposed: 3,
} as const
const resize: AutoscaleOutcome = { kind: 'resize', target: 3, decision }
const align: AutoscaleOutcome = { kind: 'align', target: 2, size: 1 }
const replace: AutoscaleOutcome = {
  kind: 'replace',
  target: 3,
  failed: [
    { uuid: 'u-1', name: 'web-ab12c', reason: 'it never got ready' },
    { uuid: 'u-2', name: 'web-cd34e', reason: 'it was stopped' },
  ],
}
const watched = (outcome: WatchResult): AutoscaleLifeEvent => ({ kind: 'watched', outcome })
const aligned = (size: number, refusal?: string, target = size): AutoscaleLifeEvent => ({
  kind: 'aligned',
  result: { size, target, ...(refusal !== undefined && { refusal }) },
})

const events = {
  resize: watched(resize),
  align: watched(align),
  replace: watched(replace),
  recovered: watched({ kind: 'recovered' }),
  'found to be deleted': watched({ kind: 'closing' }),
  aligned: aligned(3),
  'aligned in part': aligned(2, 'no room'),
  'aligning found it deleted': { kind: 'aligned', result: { size: 0, target: 0, closing: true } },
  closed: { kind: 'closed', closed: true },
  'not closed': { kind: 'closed', closed: false },
  configured: { kind: 'configured' },
  delete: { kind: 'delete' },
} satisfies Record<string, AutoscaleLifeEvent>

const nowMs = 1_000_000
const fresh = newAutoscaleLife({})
const lives = {
  [Watching]: { ...newAutoscaleLife({ target: 2 }), failures: 1, failedAtMs: 1, blockedUntilMs: 5_001 },
  [Aligning]: decideAutoscale(newAutoscaleLife({ target: 1 }), events.resize, nowMs),
  [Closing]: decideAutoscale(fresh, events.delete, nowMs),
  [Over]: { phase: Over, failures: 0 },
} satisfies Record<AutoscalePhase, AutoscaleLife>

type Row = Record<keyof typeof events, AutoscalePhase | 'same'>
const allSame = Object.fromEntries(Object.keys(events).map((name) => [name, 'same'])) as Row

const expected: Record<AutoscalePhase, Row> = {
  [Watching]: {
    ...allSame,
    resize: Aligning,
    align: Aligning,
    replace: Aligning,
    recovered: Watching,
    'found to be deleted': Closing,
    configured: Watching,
    delete: Closing,
  },
  [Aligning]: {
    ...allSame,
    aligned: Watching,
    'aligned in part': Watching,
    'aligning found it deleted': Closing,
    configured: Watching,
    delete: Closing,
  },
  [Closing]: { ...allSame, closed: Over, 'not closed': Watching, configured: Watching },
  [Over]: { ...allSame, configured: Watching, delete: Closing },
}

describe('the table of an autoscale configuration', () => {
  for (const phase of Object.values(AutoscalePhase)) {
    for (const [name, event] of Object.entries(events)) {
      const outcome = expected[phase][name as keyof typeof events]
      it(`${phase}, ${name}: ${outcome}`, () => {
        const next = decideAutoscale(lives[phase], event, nowMs)
        if (outcome === 'same') assert.deepEqual(next, lives[phase])
        else assert.notDeepEqual(next, lives[phase])
        if (outcome !== 'same') assert.equal(next.phase, outcome)
      })
    }
  }

  it('has one work for each phase, and none when all is over', () => {
    const kinds = Object.values(lives).map((life) => autoscaleWork(life)?.kind)
    assert.deepEqual(kinds, ['watch', 'align', 'close', undefined])
  })
})

/** The life after all these events, each at its time. */
function after(
  life: AutoscaleLife,
  ...said: readonly (readonly [number, AutoscaleLifeEvent])[]
): AutoscaleLife {
  return said.reduce((now, [atMs, event]) => decideAutoscale(now, event, atMs), life)
}

describe('an autoscale configuration', () => {
  it('is made the size that was decided, and then watched for that size', () => {
    const aligning = after(fresh, [0, events.resize])
    assert.deepEqual(autoscaleWork(aligning), {
      kind: 'align',
      input: { target: 3, cause: resize, mayAdd: true },
    })
    const watching = after(aligning, [5, aligned(3)])
    assert.deepEqual(autoscaleWork(watching), { kind: 'watch', input: { target: 3 } })
  })

  it('takes the size that an alignment reached as its target, because the bounds may have changed meanwhile', () => {
    assert.equal(after(fresh, [0, events.resize], [5, aligned(2)]).target, 2)
  })

  it('goes on from the size that its row says', () => {
    assert.deepEqual(autoscaleWork(newAutoscaleLife({ target: 4 })), { kind: 'watch', input: { target: 4 } })
  })

  it('lowers its target to the present size after a refusal, and adds nothing until the block is over', () => {
    const life = after(fresh, [0, events.resize], [10, aligned(2, 'no room on any host')])
    const block = { failedAtMs: 10, blockedUntilMs: 10 + firstBlockMs }
    assert.deepEqual(autoscaleWork(life), { kind: 'watch', input: { target: 2, ...block } })
    assert.equal(life.trouble, 'no room on any host')
    assert.deepEqual([life.failures, life.cause], [1, undefined])
  })

  it('may add again when the block is over, and not before', () => {
    const blocked = after(fresh, [0, events.resize], [0, aligned(2, 'no room')])
    for (const [atMs, mayAdd] of [
      [firstBlockMs - 1, false],
      [firstBlockMs, true],
    ] as const) {
      const work = autoscaleWork(after(blocked, [atMs, events.resize]))
      assert.ok(work?.kind === 'align')
      assert.equal(work.input.mayAdd, mayAdd)
    }
  })

  it('counts no failure while it may not add anything', () => {
    const blocked = after(fresh, [0, events.resize], [0, aligned(2, 'no room')])
    const life = after(blocked, [1_000, events.align], [1_001, aligned(1, 'not now')])
    assert.deepEqual([life.failures, life.blockedUntilMs, life.target], [1, firstBlockMs, 1])
  })

  it('gives failed clones back at once, tells their failure, and replaces them after the block', () => {
    const life = after(newAutoscaleLife({ target: 3 }), [0, events.replace])
    assert.deepEqual(autoscaleWork(life), {
      kind: 'align',
      input: { target: 3, cause: replace, mayAdd: false },
    })
    assert.equal(life.trouble, 'web-ab12c: it never got ready, and 1 more')
    const watching = after(life, [5, aligned(1, undefined, 3)])
    assert.deepEqual([watching.target, watching.blockedUntilMs], [3, firstBlockMs])
  })

  it('counts clones that fail within one block as one failure', () => {
    const both = [2_000, events.replace] as const
    const life = after(fresh, [0, events.replace], [5, aligned(3)], both, [2_005, aligned(2)])
    const untilMs = 2_000 + firstBlockMs
    assert.deepEqual([life.failures, life.failedAtMs, life.blockedUntilMs], [1, 2_000, untilMs])
    const next = after(life, [untilMs, events.replace])
    assert.deepEqual([next.failures, next.blockedUntilMs], [2, untilMs + 2 * firstBlockMs])
  })

  it('keeps the size from before a failure, even if no size was decided on yet', () => {
    const work = autoscaleWork(after(fresh, [0, events.replace]))
    assert.deepEqual(work, { kind: 'align', input: { target: 3, cause: replace, mayAdd: false } })
  })

  it('blocks for 5 s, doubled with each failure up to 5 min', () => {
    let life = fresh
    let atMs = 0
    const blocks: number[] = []
    for (let nth = 1; nth <= 9; nth++) {
      life = after(life, [atMs, events.resize], [atMs, aligned(1, 'no room')])
      blocks.push(life.blockedUntilMs! - atMs)
      atMs = life.blockedUntilMs!
    }
    assert.deepEqual(
      blocks.map((ms) => ms / 1_000),
      [5, 10, 20, 40, 80, 160, 300, 300, 300],
    )
    assert.equal(Math.max(...blocks), longestBlockMs)
  })

  it('begins with the shortest block again when something has warmed up since', () => {
    let life = fresh
    for (const atMs of [0, 5_000, 15_000])
      life = after(life, [atMs, events.resize], [atMs, aligned(1, 'no room')])
    assert.equal(life.failures, 3)
    const recovered = after(life, [40_000, events.recovered])
    assert.deepEqual(recovered, { phase: Watching, failures: 0, target: 1 })
    const again = after(recovered, [41_000, events.resize], [41_000, aligned(1, 'no room')])
    assert.equal(again.blockedUntilMs, 41_000 + firstBlockMs)
  })

  it('forgets a failure when no other followed it for long enough', () => {
    const once = after(fresh, [0, events.resize], [0, aligned(1, 'no room')])
    const later = failuresForgottenMs
    const soon = after(once, [later, events.resize], [later, aligned(1, 'no room')])
    assert.equal(soon.failures, 2)
    const long = after(once, [later + 1, events.resize], [later + 1, aligned(1, 'no room')])
    assert.equal(long.failures, 1)
  })

  it('that is configured again keeps nothing of the configuration before', () => {
    for (const life of Object.values(lives)) {
      assert.deepEqual(after(life, [nowMs, events.configured]), fresh)
    }
  })
})

describe('whatever events an autoscale configuration gets', () => {
  const story = fc.array(fc.tuple(fc.constantFrom(...Object.values(events)), fc.nat(400_000)), {
    maxLength: 40,
  })

  function holds(name: string, rule: (life: AutoscaleLife, atMs: number, event: AutoscaleLifeEvent) => void) {
    it(name, () => {
      fc.assert(
        fc.property(story, (said) => {
          let life = fresh
          let atMs = 0
          for (const [event, afterMs] of said) {
            atMs += afterMs
            life = decideAutoscale(life, event, atMs)
            assert.deepEqual(JSON.parse(JSON.stringify(life)), life)
            rule(life, atMs, event)
          }
        }),
        { numRuns: 500 },
      )
    })
  }

  holds('there is something to do until it is over', (life) => {
    assert.equal(autoscaleWork(life) === undefined, life.phase === Over)
  })

  holds('it has a cause exactly while it aligns', (life) => {
    assert.equal(life.cause !== undefined, life.phase === Aligning)
  })

  holds('a block never lasts longer than 5 min, and comes with a failure', (life, atMs) => {
    if (life.blockedUntilMs === undefined) return
    assert.ok(life.blockedUntilMs <= atMs + longestBlockMs && life.failures > 0)
  })

  holds('after a deletion it is over as soon as all clones are given back', (life, atMs, event) => {
    if (event.kind !== 'delete') return
    assert.equal(decideAutoscale(life, events.closed, atMs).phase, Over)
  })
})

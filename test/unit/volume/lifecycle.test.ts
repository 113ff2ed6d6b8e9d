import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { decideVolume, newVolumeLife, VolumeWork, volumeWork } from '../../../src/domain/volume/lifecycle.ts'
import type { VolumeEventKind, VolumeLife, VolumeLifeEvent } from '../../../src/domain/volume/lifecycle.ts'

const { Uninitialized, Initializing, Ready, Busy, Error: Failed } = VolumePhase

const events = {
  begin: { kind: 'begin' },
  made: { kind: 'made' },
  'make-failed': { kind: 'make-failed', reason: 'no room' },
  damaged: { kind: 'damaged', reason: 'its file is gone' },
  repair: { kind: 'repair' },
  repaired: { kind: 'repaired' },
  'repair-failed': { kind: 'repair-failed', reason: 'beyond mending' },
  'repair-not-begun': { kind: 'repair-not-begun' },
  moved: { kind: 'moved', nodeId: 'h2' },
  delete: { kind: 'delete' },
  removed: { kind: 'removed' },
} satisfies Record<VolumeEventKind, VolumeLifeEvent>
const kinds = Object.keys(events) as VolumeEventKind[]

const after = (...heard: readonly VolumeEventKind[]): VolumeLife =>
  heard.reduce((life, kind) => decideVolume(life, events[kind]), newVolumeLife)

/** A life in each phase. A phase has two lives here if events mean different things to them. */
const lives = {
  uninitialized: newVolumeLife,
  initializing: after('begin'),
  ready: after('begin', 'made'),
  busy: after('begin', 'made', 'repair'),
  'busy after damage': after('begin', 'made', 'damaged', 'repair'),
  error: after('begin', 'make-failed'),
  'error after damage': after('begin', 'made', 'damaged'),
} satisfies Record<VolumePhase, VolumeLife> & Record<string, VolumeLife>
type Where = keyof typeof lives

type Arrival = readonly [phase: VolumePhase, failure?: string]
/** Each event that changes what readers see, with the phase and failure to which it leads. */
const table: Record<Where, Partial<Record<VolumeEventKind, Arrival>>> = {
  uninitialized: { begin: [Initializing] },
  initializing: { made: [Ready], 'make-failed': [Failed, 'no room'] },
  ready: { damaged: [Failed, 'its file is gone'], repair: [Busy] },
  busy: { repaired: [Ready], 'repair-failed': [Failed, 'beyond mending'], 'repair-not-begun': [Ready] },
  'busy after damage': {
    repaired: [Ready],
    'repair-failed': [Failed, 'beyond mending'],
    'repair-not-begun': [Failed, 'its file is gone'],
  },
  error: { made: [Ready], repair: [Initializing] },
  'error after damage': { repair: [Busy, 'its file is gone'] },
}
/** The events that begin nothing for a volume that is being deleted. */
const newWork: readonly VolumeEventKind[] = ['begin', 'repair']

describe("a volume's life", () => {
  for (const where of Object.keys(lives) as Where[]) {
    const life = lives[where]
    for (const kind of kinds) {
      const arrival = table[where][kind]
      const outcome = arrival === undefined ? 'stays' : `is ${arrival.join(': ')}`
      it(`${where}, ${kind}: ${outcome}`, () => {
        const next = decideVolume(life, events[kind])
        const { made } = life
        const [phase, failure] = arrival ?? [life.phase, life.failure]
        assert.deepEqual([next.phase, next.failure], [phase, failure])
        assert.equal(next.made, made || phase === Ready)
        assert.equal(next.revision, life.revision + (arrival === undefined ? 0 : 1))
        assert.equal(next.deleting, kind === 'delete')
        assert.equal(next.removed, undefined)
      })
    }

    it(`${where}, deleting: begins nothing new, takes the end of what was under way, and is removed`, () => {
      const deleting = decideVolume(life, events.delete)
      assert.equal(volumeWork(deleting), VolumeWork.Remove)
      for (const kind of kinds) {
        const next = decideVolume(deleting, events[kind])
        const arrival = newWork.includes(kind) ? undefined : table[where][kind]
        assert.equal(next.phase, arrival === undefined ? life.phase : arrival[0], kind)
        assert.equal(next.deleting, true, kind)
        assert.equal(volumeWork(next), kind === 'removed' ? undefined : VolumeWork.Remove, kind)
      }
    })
  }

  it('wants its host to make it, to repair it, or nothing', () => {
    assert.deepEqual(
      Object.fromEntries(Object.entries(lives).map(([where, life]) => [where, volumeWork(life)])),
      {
        uninitialized: undefined,
        initializing: VolumeWork.Make,
        ready: undefined,
        busy: VolumeWork.Repair,
        'busy after damage': VolumeWork.Repair,
        error: undefined,
        'error after damage': undefined,
      } satisfies Record<Where, VolumeWork | undefined>,
    )
  })

  it('has the new host once it has moved there, whatever it was at, and goes on with the same work', () => {
    for (const life of Object.values(lives)) {
      const there = decideVolume(life, events.moved)
      assert.deepEqual(there, { ...life, nodeId: 'h2' })
      assert.equal(volumeWork(there), volumeWork(life))
      const deleting = decideVolume(decideVolume(life, events.delete), events.moved)
      assert.deepEqual([deleting.nodeId, volumeWork(deleting)], ['h2', VolumeWork.Remove])
    }
  })

  const anyLife = fc.array(fc.constantFrom(...kinds), { maxLength: 30 })

  it('never has a volume made again that was made once, whatever comes in whatever order', () => {
    fc.assert(
      fc.property(anyLife, (heard) => {
        let life = newVolumeLife
        for (const kind of heard) {
          const before = life
          life = decideVolume(life, events[kind])
          assert.ok(life.made || !before.made)
          if (life.made) assert.notEqual(volumeWork(life), VolumeWork.Make)
          if (life.phase === Ready) assert.ok(life.made)
          if (life.phase === Uninitialized || life.phase === Initializing) assert.ok(!life.made)
        }
      }),
    )
  })

  it('raises its revision by one with every change that a reader sees, and with no other', () => {
    fc.assert(
      fc.property(anyLife, fc.constantFrom(...kinds), (heard, kind) => {
        const before = after(...heard)
        const next = decideVolume(before, events[kind])
        const seen = ({ phase, made, failure }: VolumeLife) => JSON.stringify({ phase, made, failure })
        assert.equal(next.revision - before.revision, seen(next) === seen(before) ? 0 : 1)
      }),
    )
  })

  it('takes a repeat of any event without a change', () => {
    fc.assert(
      fc.property(anyLife, fc.constantFrom(...kinds), (heard, kind) => {
        const once = after(...heard, kind)
        // A repair that is asked for again while it is under way is the same repair. After it failed, the
        // request begins a new one.
        if (once.phase === Failed && kind === 'repair') return
        assert.deepEqual(decideVolume(once, events[kind]), once)
      }),
    )
  })

  it('ends in its removal once it is to be deleted, whatever the host says before', () => {
    fc.assert(
      fc.property(anyLife, anyLife, (before, later) => {
        const life = after(...before.filter((kind) => kind !== 'removed'), 'delete', ...later)
        assert.equal(volumeWork(life), later.includes('removed') ? undefined : VolumeWork.Remove)
        assert.equal(decideVolume(life, events.removed).removed, true)
      }),
    )
  })

  it('has a reason whenever it is in error', () => {
    fc.assert(
      fc.property(anyLife, (heard) => {
        const life = after(...heard)
        if (life.phase === Failed) assert.ok(life.failure)
        else if (life.phase !== Busy) assert.equal(life.failure, undefined)
      }),
    )
  })

  it('is plain JSON, as a workflow carries it', () => {
    fc.assert(
      fc.property(anyLife, (heard) => {
        const life = after(...heard)
        assert.deepEqual(JSON.parse(JSON.stringify(life)), life)
      }),
    )
  })
})

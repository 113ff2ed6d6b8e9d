import { strict as assert } from 'node:assert'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { explainVolume } from '../../../src/domain/volume/explanation.ts'
import type { ExplainedVolume } from '../../../src/domain/volume/explanation.ts'

const ready: ExplainedVolume = {
  name: 'vol-a',
  nodeId: 'local',
  phase: VolumePhase.Ready,
  made: true,
  deleting: false,
  hostAway: false,
}
const attachedTo = { name: 'web', at: '/data', readonly: false, live: false }

const cases: readonly [title: string, volume: Partial<ExplainedVolume>, now: string, next: RegExp][] = [
  [
    'not begun',
    { phase: VolumePhase.Uninitialized, made: false },
    'is asked for, and its workflow has not begun.',
    /host local makes it/,
  ],
  [
    'being made',
    { phase: VolumePhase.Initializing, made: false },
    'is being made on host local.',
    /available/,
  ],
  [
    'being made by a host that is away',
    { phase: VolumePhase.Initializing, made: false, hostAway: true },
    'is being made on host local, and waits for host local, which takes no work at present.',
    /available/,
  ],
  [
    'at rest, also where its host is away',
    { hostAway: true },
    'is available: no instance has it.',
    /nothing/,
  ],
  ['attached', { attachedTo }, 'is attached to web, which is stopped.', /mounted at \/data when web starts/],
  [
    'mounted',
    { attachedTo: { ...attachedTo, live: true, readonly: true } },
    'is mounted by web at /data, read-only.',
    /detached when web is stopped/,
  ],
  [
    'being repaired',
    { phase: VolumePhase.Busy },
    'is being checked and mended on host local, as an operator asked.',
    /available again/,
  ],
  [
    'damaged',
    { phase: VolumePhase.Error },
    'can not be used as it is.',
    /`roost admin volume repair vol-a`.*mend/,
  ],
  ['not made', { phase: VolumePhase.Error, made: false }, 'could not be made.', /try once more/],
  [
    'being deleted',
    { deleting: true },
    'is being deleted from host local.',
    /erased as soon as no VM has it/,
  ],
]

describe('what a volume is doing and why', () => {
  for (const [title, volume, now, next] of cases) {
    it(title, () => {
      const told = explainVolume({ ...ready, ...volume })
      assert.equal(told.now, `vol-a ${now}`)
      assert.match(told.next, next)
    })
  }

  it('says what stands in the way of a repair', () => {
    const attachedTo = { name: 'web', at: '/data', readonly: false }
    const next = (live: boolean) =>
      explainVolume({ ...ready, phase: VolumePhase.Error, attachedTo: { ...attachedTo, live } }).next
    assert.match(next(true), /; once web is stopped, `roost admin volume repair vol-a`/)
    assert.match(next(false), /; `roost admin volume repair vol-a`/)
  })

  it('names the reason of an error, and nothing of the kind where there is none', () => {
    const damaged = explainVolume({ ...ready, phase: VolumePhase.Error, failure: 'its file is gone' })
    assert.equal(damaged.failure, 'its file is gone')
    assert.equal(explainVolume(ready).failure, undefined)
  })
})

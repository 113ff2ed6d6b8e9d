import { strict as assert } from 'node:assert'
import { decideVolume, newVolumeLife } from '../../../src/domain/volume/lifecycle.ts'
import type { VolumeLifeEvent } from '../../../src/domain/volume/lifecycle.ts'
import { volumeNews } from '../../../src/domain/volume/news.ts'

function sentences(...events: readonly VolumeLifeEvent[]): readonly string[] {
  let life = newVolumeLife
  return events.flatMap((event) => {
    const before = life
    life = decideVolume(life, event)
    return volumeNews(before, event, life).map(
      ({ from, to, asker, why }) => `${from} ${to} ${asker.by}: ${why}`,
    )
  })
}

describe('the news of a volume', () => {
  it('tell that it is made, and is ready', () => {
    assert.deepEqual(sentences({ kind: 'begin' }, { kind: 'made' }), [
      'uninitialized initializing host: its host makes it',
      'initializing ready host: its file system is made',
    ])
  })

  it('tell what is wrong with it, and who asked for the check', () => {
    const told = sentences(
      { kind: 'begin' },
      { kind: 'made' },
      { kind: 'damaged', reason: 'its file is gone' },
      { kind: 'repair' },
      { kind: 'repaired' },
    )
    assert.deepEqual(told.slice(2), [
      'ready error host: its file is gone',
      'error busy operator: an operator asked for a check of all of it',
      'busy ready host: nothing is wrong with it any more',
    ])
  })

  it('tell nothing if its phase stays', () => {
    assert.deepEqual(volumeNews(newVolumeLife, { kind: 'made' }, newVolumeLife), [])
  })
})

import assert from 'node:assert/strict'
import { findEvent } from '../../../src/host/vmm/vm-events.ts'
import { until } from '../../support/until.ts'
import { KeeperScene } from './keeper-scene.ts'

const limit = { limitMs: 60_000 }

describe('the keeper of a guest that goes on from its snapshot', () => {
  const scene = new KeeperScene()

  /** What the keeper reports from the moment at which the VM has CPUs, up to `last`. */
  async function toldOf(says: string, last: string): Promise<readonly string[]> {
    const { events } = await scene.start({ name: says, says: [says] })
    await until(`${last} is told`, () => findEvent(events(), last), limit)
    const names = events().map(({ what }) => what)
    return names.slice(names.indexOf('monitor') + 1, names.indexOf(last) + 1)
  }

  it('reports that the guest runs once the guest has set its clock', async () => {
    assert.deepEqual(await toldOf('awake', 'running'), ['listen', 'running'])
  })

  it('reports it before the end of the guest, even if that comes first', async () => {
    assert.deepEqual(await toldOf('exit', 'exit'), ['listen', 'running', 'exit'])
    assert.deepEqual(await toldOf('panic', 'shutdown'), ['listen', 'running', 'shutdown'])
  })

  it('does not wait for ever for a guest that is too busy', async () => {
    assert.deepEqual(await toldOf('nothing', 'running'), ['listen', 'running'])
  })
})

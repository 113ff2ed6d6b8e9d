import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { seen } from './agent-gateway.ts'
import { boot, cold, StandbyScene } from './agent-standby-scene.ts'

describe('what an agent reports of an instance that changes its mind all the time', function () {
  this.timeout(30_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('is a few of its words a second, and the last one always', async () => {
    await scene.running(cold)
    await scene.live.reported()
    const whims = () => scene.machine.events.filter(({ kind }) => kind === 'disabled' || kind === 'idle')
    const before = whims().length
    const beganAtMs = performance.now()
    for (let count = 1; count <= 301; count += 1) {
      scene.machine.host.setDisabled(boot, count % 2 === 1)
      for (let turns = 0; turns < 10; turns += 1) await turn()
    }
    const seconds = Math.ceil((performance.now() - beganAtMs) / 1_000)
    assert.ok(whims().length - before <= 8 + seconds, `${whims().length - before} in ${seconds} s`)
    await seen('the last word is told', () => {
      const last = scene.machine.events.findLast(({ kind }) => kind === 'disabled')
      return last?.kind === 'disabled' && last.disabled
    })
    await scene.live.reported()
  })
})

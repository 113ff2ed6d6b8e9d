import assert from 'node:assert/strict'
import { onFailure } from '../support/failure-notes.ts'
import { LossRun } from '../support/loss-run.ts'
import type { LossPlan } from '../support/loss-run.ts'
import { openLossScene } from '../support/loss-scene.ts'
import type { LossScene } from '../support/loss-scene.ts'
import { tellFigures } from '../support/loss-table.ts'

/** How much of the machines' output is shown with a failure. */
const maxShown = 6_000

/**
 * Two of the ways in which a host is lost: without an answer of the API to it, and without any time for it.
 * `npm run loss` goes through all of them.
 */
const plans: Readonly<Record<string, LossPlan>> = {
  'a host that is cut off': { way: 'cut', awake: false },
  'a host that stands still, and goes on later': { way: 'stopped', awake: true },
}

describe('a lost host', function () {
  let scene: LossScene

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    scene = await openLossScene()
  })
  after(async () => await scene?.remove())
  onFailure(() =>
    scene === undefined
      ? ''
      : `--- the stack said last:\n${scene.stack.output().slice(-maxShown)}\n--- h2 said last:\n${scene.lost.output().slice(-maxShown)}\n---\n`,
  )

  for (const [title, plan] of Object.entries(plans)) {
    describe(title, () => {
      let run: LossRun

      before(async () => {
        run = new LossRun(scene, plan)
        await run.begin()
      })
      after(async () => await run?.end())

      it('has its instances without volumes answer on other hosts', async () => await run.lose())

      it('keeps the instance with a volume, which waits for it and says so', async () => {
        await run.verifyWaiting()
      })

      it('clears up when it comes back, and runs the instance with its data', async () =>
        await run.bringBack())

      it('never had a second VM of an instance answer', () => {
        assert.deepEqual(run.proofsOfTwo(), [])
        console.log(tellFigures([run]).replaceAll(/^/gm, '      '))
      })
    })
  }
})

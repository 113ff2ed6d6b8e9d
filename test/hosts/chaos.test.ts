import { ChaosRun } from '../chaos/chaos-run.ts'
import { openChaosScene } from '../chaos/chaos-scene.ts'
import type { ChaosScene } from '../chaos/chaos-scene.ts'
import { ciSeed } from '../support/ci-seed.ts'
import { onFailure } from '../support/failure-notes.ts'

/** `npm run chaos` plays longer ones. */
const runMs = 45_000
const limitMs = 600_000
const seed = ciSeed ?? Date.now() % 1_000_000
/** How much of the machines' output is shown with a failure. */
const maxShown = 6_000

describe(`hosts that go through all kinds of things (seed ${seed})`, function () {
  this.timeout(limitMs)
  let scene: ChaosScene
  const told: string[] = []

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    scene = await openChaosScene()
  })
  after(async () => await scene?.remove())
  onFailure(() =>
    scene === undefined
      ? ''
      : [told.join('\n'), ...[scene.stack, scene.machines.h2, scene.machines.h3].map((one) => one.output())]
          .map((text) => `--- said last:\n${text.slice(-maxShown)}\n`)
          .join(''),
  )

  it('keep every promise, and leave nothing over', async () => {
    const run = new ChaosRun(scene, { ms: runMs, seed, say: (text) => told.push(text) })
    await run.play()
    console.log(run.tell().replaceAll(/^/gm, '      '))
  })
})

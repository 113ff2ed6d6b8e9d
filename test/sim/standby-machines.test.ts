import { strict as assert } from 'node:assert'
import process from 'node:process'
import { Simulation } from './simulation.ts'

/**
 * Gateway's lease, host's lease and lifecycle with nothing but a model around them: 200 runs a second, where
 * `protocol.test.ts` with the real agent has 45 at best. An order of events that both can come across is
 * found here first: that a gateway which holds nothing is believed to hold a lease shows in run 5 here, and
 * there in life 714.
 *
 * Runs are told apart by their seed alone. To see what happens in one of them:
 * `ROOST_SIM_SEED=17 node_modules/.bin/node node_modules/mocha/bin/mocha.js --no-config
 * test/sim/standby-machines.test.ts`
 */
const runs = 2_000
/** Of runs that fail. */
const mostShown = 10
const oneSeed = process.env['ROOST_SIM_SEED']

describe('standby, with everything late, lost, repeated and restarted', () => {
  it(`loses no request and wakes nothing twice, in ${oneSeed === undefined ? `${runs} runs` : `run ${oneSeed}`}`, async function () {
    this.timeout(300_000)
    const seeds =
      oneSeed === undefined ? Array.from({ length: runs }, (_, index) => index + 1) : [Number(oneSeed)]
    const failed: string[] = []
    for (const seed of seeds) {
      const simulation = new Simulation(seed)
      const violations = await simulation.run()
      if (oneSeed !== undefined) process.stdout.write(`${simulation.log.join('\n')}\n`)
      if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      if (failed.length >= mostShown) break
    }
    assert.deepEqual(failed, [])
  })
})

import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { RolloutNext } from '../../../activities/rollout/activities.ts'
import type { RolloutControl } from '../../../src/control/rollout-control.ts'
import { createRolloutControl } from '../../../src/control/temporal-rollout-control.ts'
import type { RolloutRow } from '../../../src/db/rollout/row.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { RolloutPhase } from '../../../src/domain/rollout/phase.ts'
import { rolloutWorkflowId } from '../../../workflows/rollout/messages.ts'
import { stateAttribute } from '../../../workflows/search-attributes.ts'
import { rolloutWorld } from '../../support/rollout-world.ts'
import { testPlan } from '../../support/rollout-rows.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

const soon = { limitMs: 60_000 }
/** Less than the pause between two looks at a version that is kept. */
const atOnce = { limitMs: 15_000 }
const brief = { ...testPlan, bakeMs: 200, check: { ...testPlan.check, intervalMs: 100 } }
const hourMs = 3_600_000

describe('a rollout in Temporal', () => {
  const world = rolloutWorld()
  const { newUser, published, begun, row, runs, rollout, told, scene, control } = world
  let env: TestWorkflowEnvironment
  let workers: RunningWorkers | undefined
  let rollouts: RolloutControl
  before(async () => {
    env = await startDevServer()
    rollouts = createRolloutControl(env.client)
  })
  after(() => env.teardown())
  afterEach(async () => {
    await workers?.stop()
    workers = undefined
  })

  const work = async (activities = world.activities()) => {
    workers = await runWorkers(env, { control: activities })
  }
  const settingsOf = ({ uuid, userUuid }: Pick<RolloutRow, 'uuid' | 'userUuid'>) => ({
    rolloutUuid: uuid,
    serviceName: 'shop',
    userUuid,
  })
  const handleOf = (uuid: string) => env.client.workflow.getHandle(rolloutWorkflowId(uuid))
  const detailsOf = async (uuid: string) => {
    const { currentDetails } = await handleOf(uuid).query<{ readonly currentDetails?: string }>(
      '__temporal_workflow_metadata',
    )
    return currentDetails ?? ''
  }
  const untilPhase = (of: RolloutRow, phase: string, bounds = soon) =>
    until(`it is ${phase}`, async () => (await rollout(of)).phase === phase, bounds)
  const phasesOf = async (service: { readonly uuid: string }) =>
    (await told(service)).map(({ stateAfter }) => stateAfter)

  it('is led through its phases, and tells in the Web UI what it did', async () => {
    const service = await published(await newUser(), { env: { SECRET: 'hidden-value' } })
    const plan = { ...brief, canary: [20, 100], keepMs: 2_000 }
    const { rollout: of, instances } = await begun(service, { plan })
    await work()
    await rollouts.ensureStarted(settingsOf(of))
    await rollouts.ensureStarted(settingsOf(of))
    await until('it waits', async () => (await detailsOf(of.uuid)).includes('waits until healthy'), soon)
    await runs(instances[0]!)
    await handleOf(of.uuid).result()
    assert.equal((await rollout(of)).phase, 'done')
    assert.deepEqual(await phasesOf(service), ['preparing', 'baking', 'baking', 'kept', 'done'])
    assert.equal((await row(instances[0]!)).name, 'web')
    const details = await detailsOf(of.uuid)
    assert.match(
      details,
      /^\*\*done\*\*: the rollout of shop: the new version serves, and the old one is deleted/,
    )
    for (const line of [
      'gave 20 % of',
      'found nothing wrong in step 1',
      'gave 100 % of',
      'deleted the old version',
    ])
      assert.ok(details.includes(line), details)
    const { searchAttributes } = await handleOf(of.uuid).describe()
    assert.deepEqual(searchAttributes[stateAttribute.name], ['done'])
    await rollouts.ensureStarted(settingsOf(of))
    const history = decoded(historyToJSON(await handleOf(of.uuid).fetchHistory()))
    assert.ok(history.includes('gave 20 % of'), 'the payloads are read')
    assert.ok(!history.includes('hidden-value'))
  }).timeout(120_000)

  it('looks at once when it is told to, although it would wait for long', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, { plan: { ...brief, keepMs: hourMs } })
    await runs(instances[0]!)
    await work()
    await rollouts.ensureStarted(settingsOf(of))
    await until(
      'the old one is stopped',
      async () => {
        const { state } = await row(service.instances[0]!)
        return state === InstanceState.Stopped && (await rollout(of)).progress.asked?.includes('stop-old')
      },
      soon,
    )
    assert.ok((await world.recall(service)).ok)
    await rollouts.lookAgain(of.uuid)
    await untilPhase(of, 'returned', atOnce)
    assert.equal((await row(service.instances[0]!)).name, 'web')
    await handleOf(of.uuid).result()
  }).timeout(120_000)

  it('goes on after a death of its worker behind every move, and does nothing twice', async () => {
    const volume = { mount: { at: '/data', readonly: false }, made: { sizeMb: 16 } }
    const service = await published(await newUser(), { volume })
    const { rollout: of, instances } = await begun(service, { plan: { ...brief, keepMs: hourMs } })
    let decisions = 0
    let checks = 0
    // Time is asked for at each decision, and when a check is over. Every second decision dies, so each
    // move is the last one of its attempt.
    const dying = world.activities({
      nowMs() {
        const hasChecked = scene.script.checks.length > checks
        checks = scene.script.checks.length
        if (hasChecked) return Date.now()
        decisions += 1
        if (decisions % 2 === 0) throw new Error('the worker is killed')
        return Date.now()
      },
    })
    await work(dying)
    await rollouts.ensureStarted(settingsOf(of))
    await until('the volume is handed over', async () => (await row(instances[0]!)).volumeUuid !== null, soon)
    // The whole worker goes as well, and another one takes its place.
    await workers?.stop()
    await work(dying)
    await untilPhase(of, 'kept')
    assert.ok(decisions > 8, String(decisions))
    assert.deepEqual(await phasesOf(service), ['preparing', 'baking', 'kept'])
    assert.equal(control().calls.filter((call) => call === 'start').length, 1)
    assert.equal(control().calls.filter((call) => call.startsWith('stop')).length, 1)
    assert.partialDeepStrictEqual(await row(instances[0]!), { name: 'web', volumeAt: '/data' })
    await handleOf(of.uuid).terminate()
  }).timeout(240_000)

  it('goes back from a version that fails, and says why', async () => {
    const service = await published(await newUser())
    const check = { ...brief.check, limitMs: 3_000 }
    await work()
    const { rollout: of, instances } = await begun(service, { plan: { ...brief, check } })
    await runs(instances[0]!)
    scene.script.check = () => ({ ok: false, why: 'nothing listens on port 443' })
    await rollouts.ensureStarted(settingsOf(of))
    await handleOf(of.uuid).result()
    assert.deepEqual(await phasesOf(service), ['preparing', 'returning', 'returned'])
    assert.match(await detailsOf(of.uuid), /began to go back: .*nothing listens on port 443/)
  })

  it('is not ended by a cancellation from outside', async () => {
    const service = await published(await newUser())
    const { rollout: of, instances } = await begun(service, { plan: { ...brief, keepMs: 500 } })
    await work()
    await rollouts.ensureStarted(settingsOf(of))
    await handleOf(of.uuid).cancel()
    await until('it waits', async () => (await detailsOf(of.uuid)).includes('waits until healthy'), soon)
    await runs(instances[0]!)
    await handleOf(of.uuid).result()
    assert.equal((await rollout(of)).phase, 'done')
  })

  it('keeps what it has told when it continues as new', async () => {
    const rolloutUuid = randomUUID()
    let looks = 0
    const { Baking: phase } = RolloutPhase
    // A history of some megabytes is continued as well as one of a thousand events, and is written sooner.
    const now = `it bakes${' '.repeat(900_000)}`
    const next = async (): Promise<RolloutNext> => {
      looks += 1
      return { waitMs: 1, phase, now, done: looks === 1 ? ['did the first thing'] : [] }
    }
    await work({ continueRollout: next })
    await rollouts.ensureStarted(settingsOf({ uuid: rolloutUuid, userUuid: randomUUID() }))
    const { runId } = await handleOf(rolloutUuid).describe()
    const another = async () => (await handleOf(rolloutUuid).describe()).runId !== runId
    await until('it is another run', another, soon)
    const seen = looks
    await until('that one has looked', () => looks > seen + 1, soon)
    assert.match(await detailsOf(rolloutUuid), /: did the first thing$/)
    await handleOf(rolloutUuid).terminate()
  }).timeout(120_000)
})

/** The history with its payloads as text. */
function decoded(history: string): string {
  return history.replaceAll(/"data": ?"([^"]+)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  )
}

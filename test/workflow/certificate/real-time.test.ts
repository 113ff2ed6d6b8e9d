import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { CertificateStep } from '../../../src/domain/certificate/lifecycle.ts'
import type { CertificateWork } from '../../../src/domain/certificate/lifecycle.ts'
import type { CertificateSettings } from '../../../src/domain/certificate/settings.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { fakeLifeMs } from '../../support/fake-certificate-steps.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createCertificateWorld } from './world.ts'
import type { CertificateWorld, CertificateWorldOptions } from './world.ts'

const { Order, Prove, Finalise, Install } = CertificateStep
const { Valid, Error: Failed } = CertificateState
const soon = { limitMs: 40_000 }
const failed = { verdict: 'failed', reason: 'the name leads elsewhere' } as const
const never = (): Promise<void> => new Promise(() => undefined)

describe('a requested certificate as a workflow, on a server with a clock', () => {
  let env: TestWorkflowEnvironment
  let world: CertificateWorld
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: CertificateWorldOptions = {}): Promise<void> {
    world = await createCertificateWorld(env, options)
    await world.control.ensureStarted(world.settings)
  }

  const uuid = () => world.settings.certificateUuid
  const runs = async () => (await env.client.workflow.getHandle(world.id).describe()).runId

  /** The settings that a caller reads from the certificate's row. */
  function known(): CertificateSettings {
    const { revision, record } = world.row
    assert.ok(record)
    const validity = { notBeforeMs: Date.now(), notAfterMs: Date.now() + fakeLifeMs }
    const valid = record.state === Valid ? { validity } : {}
    return { ...world.settings, recorded: { ...record, ...valid, revision } }
  }

  for (const work of [Order, Prove, Finalise, Install, 'ask'] satisfies CertificateWork[]) {
    it(`that is deleted during '${work}' cancels that step, waits for its end, and is over`, async () => {
      await begin({ gate: (one) => (one === work ? never() : undefined) })
      await until('it is under way', () => world.steps.calls.includes(work), soon)
      await world.control.delete(uuid())
      await world.over()
      assert.deepEqual(world.steps.calledOff, [work])
      assert.equal(world.steps.calls.at(-1), work)
      assert.equal(world.steps.overlaps, 0)
    })
  }

  it('that is deleted between two attempts is over, and a second deletion is taken', async () => {
    await begin({ outcomeOf: (step) => (step === Prove ? failed : undefined) })
    await world.reaches(({ failure }) => failure !== undefined)
    await world.control.delete(uuid())
    await world.over()
    await world.control.delete(uuid())
  })

  it('that was never started takes a deletion, and starts when a person retries it while its row exists', async () => {
    world = await createCertificateWorld(env)
    await world.control.delete(uuid())
    await world.control.retry(world.settings)
    await world.reachesState(Valid)
    await world.control.delete(uuid())
    await world.over()
    await world.control.retry(known())
    assert.deepEqual((await world.life()).state, Valid)
  })

  it('goes on when all its workers are restarted in the middle of a step', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ gate: (work, nth) => (work === Finalise && nth === 1 ? gate.promise : undefined) })
    await until('it is under way', () => world.steps.calls.includes(Finalise), soon)
    const restarted = world.restartWorkers()
    gate.resolve()
    await restarted
    await world.reachesState(Valid)
    assert.deepEqual([world.steps.count(Order), world.steps.count(Prove)], [1, 1])
  })

  it('continues as new between two attempts, with all it knows', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) })
    await world.reaches(({ failure }) => failure !== undefined)
    const [before, life] = [await runs(), await world.life()]
    await world.control.refresh(uuid())
    await until('there is a new run', async () => (await runs()) !== before, soon)
    assert.deepEqual(await world.life(), life)
    await world.control.retry(world.settings)
    await world.reachesState(Valid)
  })

  it('goes on from its row after a person terminated it', async () => {
    await begin({ outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) })
    await world.reaches(({ failure }) => failure !== undefined)
    const { nextAtMs, attempt } = await world.life()
    await env.client.workflow.getHandle(world.id).terminate('by hand')
    await world.control.ensureStarted(known())
    const life = await world.life()
    assert.deepEqual([life.nextAtMs, life.attempt], [nextAtMs, attempt])
    await world.control.retry(known())
    await world.reachesState(Valid)
  })

  it('tells in the Web UI what it is doing, why, and what comes next, and its state can be searched for', async () => {
    await begin({
      outcomeOf: (step) => (step === Order ? { verdict: 'refused', reason: 'on a list' } : undefined),
    })
    await world.reachesState(Failed)
    await until('its details say so', async () => (await world.details()).includes('**error**'), soon)
    assert.equal(
      await world.details(),
      [
        '**error**: shop-ab12c could not be got for shop.example.test, after 1 attempt.',
        '',
        '- next: nothing by itself; when what is wrong is mended, `roost admin cert retry shop-ab12c` tries again at once',
        '- why: on a list',
      ].join('\n'),
    )
    const { searchAttributes } = await env.client.workflow.getHandle(world.id).describe()
    assert.deepEqual(searchAttributes['RoostState'], [Failed])
    assert.deepEqual(searchAttributes['RoostUser'], [world.settings.userUuid])
  })

  it('has only identifiers, names and decisions in its history', async () => {
    await begin()
    await world.reachesState(Valid)
    const history = await env.client.workflow.getHandle(world.id).fetchHistory()
    const inputs = history.events?.flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? [],
    )
    assert.ok(inputs && inputs.length >= 4)
    for (const { data } of inputs) {
      assert.deepEqual(Object.keys(JSON.parse(Buffer.from(data ?? []).toString()) as object), [
        'certificateUuid',
      ])
    }
  })
})

import { strict as assert } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { AutoscalePhase } from '../../../src/domain/autoscale/life.ts'
import { replaceOne, resizeTo } from '../../support/autoscale-outcomes.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { createAutoscaleWorld } from './world.ts'
import type { AutoscaleWorld, AutoscaleWorldOptions } from './world.ts'

const { Watching, Aligning, Closing } = AutoscalePhase
const soon = { limitMs: 40_000 }
/** So many messages that the server suggests a new run before the last of them. */
const manyMessages = 1_100
const messagesAtOnce = 50

describe('an autoscale configuration as a workflow, on a server with a clock', () => {
  let env: TestWorkflowEnvironment
  let world: AutoscaleWorld
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  async function begin(options: AutoscaleWorldOptions = {}): Promise<void> {
    world = await createAutoscaleWorld(env, options)
    await world.control.configured(world.settings)
    await world.isWatched()
  }

  const handle = () => env.client.workflow.getHandle(world.id)
  const runId = async () => (await handle().describe()).runId
  const isUnderWay = async () => (await handle().describe()).status.name === 'RUNNING'
  const isOver = async () => (await handle().describe()).status.name === 'COMPLETED'

  it('leaves nothing in its history while a watch heart-beats', async () => {
    await begin()
    const [entries, { beats }] = [await world.entries(), world.service]
    await until('it has beaten often', () => world.service.beats > beats + 30, soon)
    assert.equal(await world.entries(), entries)
  })

  it('that is deleted while it is watched calls the watch off, gives all back and is over', async () => {
    await begin()
    await world.control.delete(world.settings)
    await world.over()
    assert.deepEqual(world.service.calls, ['watch any', 'close'])
    await until('the watch ended', () => world.service.calledOff.length === 1, soon)
  })

  it('that is deleted while it is aligned finishes that first, and then gives all back', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ gate: (call) => (call === 'align' ? gate.promise : undefined) })
    world.service.sees(resizeTo(3))
    await until('it is aligned', () => world.service.count('align') === 1, soon)
    await world.control.delete(world.settings)
    await world.reaches(({ phase }) => phase === Closing)
    assert.equal(world.service.count('close'), 0)
    gate.resolve()
    await world.over()
    assert.deepEqual(world.service.calls, ['watch any', 'align 3', 'close'])
    assert.equal(world.service.overlaps, 0)
  })

  it('that is deleted while aligning fails again and again closes without waiting for it', async () => {
    await begin({ alignmentOf: () => ({ broken: 'the database is away' }) })
    world.service.sees(resizeTo(3))
    await until('it is tried', () => world.service.count('align') >= 2, soon)
    await world.control.delete(world.settings)
    await world.over()
    assert.equal(world.service.calls.at(-1), 'close')
  })

  it('that is deleted twice, before it began or when it is over, is over', async () => {
    world = await createAutoscaleWorld(env)
    for (let times = 0; times < 2; times++) {
      await world.control.delete(world.settings)
      await until('it is over', isOver, soon)
    }
    assert.deepEqual(world.service.calls, ['close', 'close'])
  })

  it('that is configured again while it closes is watched again, without its earlier size', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({
      gate: (call, nth) => (call === 'close' && nth === 1 ? gate.promise : undefined),
      closingOf: (nth) => (nth === 1 ? { closed: false } : undefined),
    })
    world.service.sees(resizeTo(4))
    await world.isWatched(4)
    await world.control.delete(world.settings)
    await until('it closes', () => world.service.count('close') === 1, soon)
    await world.control.configured(world.settings)
    await world.reaches(({ phase }) => phase === Watching)
    gate.resolve()
    await until('it is watched again', () => world.service.count('watch') === 3, soon)
    assert.deepEqual(world.service.calls.slice(2), ['watch 4', 'close', 'watch any'])
    assert.equal(world.service.overlaps, 0)
  })

  it('that is configured again while it is watched is watched again, from the present size', async () => {
    await begin()
    world.service.sees(resizeTo(3))
    await world.isWatched(3)
    await world.control.configured(world.settings)
    await until('it is watched anew', () => world.service.calls.at(-1) === 'watch any', soon)
    assert.equal((await world.life()).target, undefined)
  })

  it('that was configured again without hearing of it goes on once its closing finds that out', async () => {
    await begin({ closingOf: (nth) => (nth === 1 ? { closed: false } : undefined) })
    await world.control.delete(world.settings)
    await until('it is watched again', () => world.service.count('watch') === 2, soon)
    assert.deepEqual(await world.life(), { phase: Watching, failures: 0 })
  })

  it('that is over is started again when the service is configured again', async () => {
    await begin()
    await world.control.delete(world.settings)
    await world.over()
    await world.control.configured(world.settings)
    await until('it lives', isUnderWay, soon)
    await until('it is watched', () => world.service.count('watch') === 2, soon)
    await world.control.delete(world.settings)
    await until('it is over', isOver, soon)
    await world.control.ensureStarted(world.settings)
    await until('it lives', isUnderWay, { limitMs: 20_000 })
    await until('it is watched', () => world.service.count('watch') === 3, soon)
  })

  it('hears that it is configured, even at the moment in which it ends', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ gate: (call) => (call === 'close' ? gate.promise : undefined) })
    for (let times = 0; times < 10; times++) {
      await world.control.delete(world.settings)
      await until('it heard of it', async () => (await world.life()).phase !== Watching, soon)
      gate.resolve()
      await delay(times * 3)
      await world.control.configured(world.settings)
      const watches = world.service.count('watch')
      await until('it is watched', () => world.service.isWatched, soon)
      assert.ok(world.service.count('watch') >= watches)
      assert.equal((await world.life()).phase, Watching)
    }
  })

  it('closes by itself where a watch or an aligning finds that the configuration is deleted or gone', async () => {
    await begin()
    world.service.sees({ kind: 'closing' })
    await world.over()
    assert.deepEqual(world.service.calls, ['watch any', 'close'])
    await world.end()

    await begin({ alignmentOf: () => ({ closing: true }) })
    world.service.sees(resizeTo(3))
    await world.over()
    assert.deepEqual(world.service.calls, ['watch any', 'align 3', 'close'])
  })

  it('begins a new run as soon as it only watches, and goes on watching for the same size', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({
      gate: (call) => (call === 'align' ? gate.promise : undefined),
      alignmentOf: () => ({ size: 2, refusal: 'no room' }),
    })
    world.service.sees(resizeTo(3))
    await world.reaches(({ phase }) => phase === Aligning)
    const first = await runId()
    await world.control.refresh(world.settings.serviceUuid)
    assert.equal(await runId(), first)
    gate.resolve()
    await until('there is a new run', async () => (await runId()) !== first, soon)
    const life = await world.reaches(({ phase }) => phase === Watching)
    assert.partialDeepStrictEqual(life, { target: 2, failures: 1, trouble: 'no room' })
    await world.isWatched(2)
    const second = await runId()
    await world.control.refresh(world.settings.serviceUuid)
    await until('there is a third run', async () => (await runId()) !== second, soon)
    assert.deepEqual(await world.life(), life)
    assert.equal(world.service.count('align'), 1)
  })

  it('begins a new run by itself before its history is long', async () => {
    await begin()
    world.service.sees(resizeTo(3))
    await world.isWatched(3)
    const first = await runId()
    for (let sent = 0; sent < manyMessages; sent += messagesAtOnce) {
      const send = () => handle().signal('of-a-later-version')
      await Promise.all(Array.from({ length: messagesAtOnce }, send))
    }
    world.service.sees(resizeTo(2, 3))
    await until('there is a new run', async () => (await runId()) !== first, soon)
    await world.isWatched(2)
    assert.deepEqual(await world.life(), { phase: Watching, failures: 0, target: 2 })
  })

  it('goes on from the size of its row where a person terminated it', async () => {
    await begin()
    world.service.sees(resizeTo(3))
    await world.isWatched(3)
    await handle().terminate('by hand')
    await world.control.ensureStarted({ ...world.settings, target: 3 })
    await until('it is watched again', () => world.service.count('watch') === 3, soon)
    assert.deepEqual(world.service.watches.at(-1)?.target, 3)
    await world.control.ensureStarted({ ...world.settings, target: 3 })
    assert.equal((await world.life()).target, 3)
  })

  it('goes on with its watch or its aligning when all its workers are restarted', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({ gate: (call, nth) => (call === 'align' && nth === 1 ? gate.promise : undefined) })
    await world.restartWorkers()
    await world.isWatched()
    world.service.sees(resizeTo(3))
    await until('it is aligned', () => world.service.count('align') === 1, soon)
    const restarted = world.restartWorkers()
    gate.resolve()
    await restarted
    await world.isWatched(3)
    assert.equal(world.service.size, 3)
    assert.equal(world.service.overlaps, 0)
  })

  it('ignores unknown messages and a cancellation', async () => {
    await begin()
    await handle().signal('of-a-later-version', { anything: true })
    await handle().cancel()
    world.service.sees(replaceOne)
    await until('it goes on', () => world.service.count('watch') === 2, soon)
    assert.equal((await world.life()).failures, 1)
  })

  it('tells in the Web UI what it does, why, and what comes next', async () => {
    const gate = Promise.withResolvers<void>()
    await begin({
      gate: (call, nth) => (call === 'align' && nth === 1 ? gate.promise : undefined),
      alignmentOf: () => ({ size: 1, refusal: 'no room on any host' }),
    })
    const says = async (...words: readonly RegExp[]): Promise<void> => {
      const shown = async () => {
        const details = await world.details()
        return words.every((word) => word.test(details))
      }
      await until(`it says ${words.join()}`, shown, soon)
    }
    await says(/^\*\*watching\*\*: shop is looked at for the first time\.$/m)
    world.service.sees(resizeTo(3))
    await says(
      /^\*\*aligning\*\*: shop goes from 1 to 3: policy busy wants 3, because/,
      /it is made 3 instances$/m,
    )
    gate.resolve()
    await says(
      /^\*\*watching\*\*: shop is to have 1 instance\.$/m,
      /`roost autoscale explain shop`/,
      /^- nothing is added before \S+Z$/m,
      /^- failed once, last at \S+Z: no room on any host$/m,
    )
    world.service.sees(replaceOne)
    await says(/failed once, last at \S+Z: web-ab12c: it never got ready$/m)
    await world.control.delete(world.settings)
    await world.over()
    await says(/^\*\*over\*\*: shop is autoscaled no more\.$|^\*\*closing\*\*/m)
  })

  it('can be searched for by its user and state, and tells in its history nothing but what was decided', async () => {
    await begin()
    world.service.sees(resizeTo(3))
    await world.isWatched(3)
    const { searchAttributes, memo } = await handle().describe()
    assert.deepEqual(searchAttributes['RoostState'], [Watching])
    assert.deepEqual(searchAttributes['RoostUser'], [world.settings.userUuid])
    assert.equal(memo?.['name'], world.settings.serviceName)
    const inputs = (await handle().fetchHistory()).events?.flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? [],
    )
    const known = ['serviceUuid', 'target', 'cause', 'mayAdd', 'blockedUntilMs', 'failedAtMs']
    for (const { data } of inputs ?? []) {
      const given = JSON.parse(Buffer.from(data ?? []).toString()) as object
      assert.ok(Object.keys(given).every((key) => known.includes(key)))
    }
  })
})

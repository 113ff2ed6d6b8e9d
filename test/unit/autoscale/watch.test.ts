import assert from 'node:assert/strict'
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createWatchActivity } from '../../../activities/autoscale/watch.ts'
import { roundsPerView } from '../../../activities/autoscale/service-observer.ts'
import { ObservedWorld } from '../../support/observed-world.ts'

describe('the activity that watches a service', () => {
  let world: ObservedWorld
  let environment: MockActivityEnvironment
  const beats: unknown[] = []
  beforeEach(() => {
    world = new ObservedWorld()
    world.add('a')
    environment = new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') })
    beats.length = 0
    environment.on('heartbeat', (details: unknown) => beats.push(details))
  })
  const start = async (): Promise<unknown> =>
    await environment.run(createWatchActivity({ observer: world.observer }).watchService, {
      serviceUuid: 'a',
      target: 1,
    })

  it('ends with the outcome, and heartbeats with what it sees until then', async () => {
    const result = start()
    await world.clock.pass(roundsPerView * 3_000)
    assert.equal(beats.length, 4)
    assert.partialDeepStrictEqual(beats.at(-1), { size: 1, target: 1, rest: { kind: 'right-size' } })
    assert.deepEqual(JSON.parse(JSON.stringify(beats)), beats)
    world.services.delete('a')
    await world.clock.pass(1_000)
    assert.deepEqual(await result, { kind: 'closing' })
    await world.clock.pass(20_000)
    assert.equal(beats.length, 4)
  })

  it('ends at once when it is called off', async () => {
    const result = start()
    await world.clock.pass(1_500)
    environment.cancel()
    await assert.rejects(result, CancelledFailure)
  })

  it('is handed over at once by a worker that stops', async () => {
    const result = assert.rejects(
      start(),
      (error) =>
        error instanceof ApplicationFailure && error.nextRetryDelay === '100ms' && !error.nonRetryable,
    )
    await world.clock.pass(1_500)
    world.observer.close()
    await result
  })

  it('fails like any other activity when it is broken, so that the next attempt has the usual back-off', async () => {
    world.change('a', ([member]) =>
      member === undefined ? [] : [{ ...member, state: 'unheard of' as never }],
    )
    const result = assert.rejects(start(), TypeError)
    await world.clock.pass(0)
    await result
  })
})

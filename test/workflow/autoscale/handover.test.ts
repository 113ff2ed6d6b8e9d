import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { pino } from 'pino'
import { createWatchActivity } from '../../../activities/autoscale/watch.ts'
import { ObserverClosed } from '../../../activities/autoscale/service-observer.ts'
import type { ServiceObserver } from '../../../activities/autoscale/service-observer.ts'
import { autoscaleWorker } from '../../../src/bin/worker-temporal.ts'
import type { KeptWorker } from '../../../src/bin/kept-worker.ts'
import { createAutoscaleControl } from '../../../src/control/temporal-autoscale-control.ts'
import { AutoscalePhase } from '../../../src/domain/autoscale/life.ts'
import type { AutoscaleView } from '../../../src/domain/autoscale/watch.ts'
import { autoscaleWorkflowId } from '../../../workflows/autoscale/messages.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

/** Far below the 120 s after which Temporal notices that a worker is silent. */
const atOnce = { limitMs: 12_000 }
const soon = { limitMs: 30_000 }

/** An observer that always sees the same view. */
class StillObserver implements ServiceObserver {
  readonly watched: string[] = []
  readonly #view: AutoscaleView
  readonly #ended = Promise.withResolvers<never>()

  constructor(view: AutoscaleView) {
    this.#view = view
    this.#ended.promise.catch(() => undefined)
  }

  async watch(
    { serviceUuid }: { readonly serviceUuid: string },
    options: Parameters<ServiceObserver['watch']>[1],
  ) {
    this.watched.push(serviceUuid)
    options.onView(this.#view)
    const { promise, reject } = Promise.withResolvers<never>()
    options.signal.addEventListener('abort', () => reject(options.signal.reason as Error))
    return Promise.race([promise, this.#ended.promise])
  }

  close(): void {
    this.#ended.reject(new ObserverClosed())
  }
}

describe('the watches over services', function () {
  this.timeout(120_000)
  let env: TestWorkflowEnvironment
  let control: RunningWorkers
  before(async () => {
    env = await startDevServer()
    control = await runWorkers(env, { control: {} })
  })
  after(async () => {
    await control.stop()
    await env.teardown()
  })

  /** The identities of all workers that began. */
  const ids = new Set<string>()
  const worker = (observer: ServiceObserver): KeptWorker =>
    autoscaleWorker({
      place: { address: env.address, namespace: env.namespace ?? 'default' },
      log: pino({ level: 'silent' }),
      autoscale: {
        activities: {
          ...createWatchActivity({ observer }),
          alignService: async ({ target = 1 }) => ({ size: target, target, added: [], givenBack: [] }),
          closeAutoscale: async () => ({ closed: true }),
        },
        begin: (id) => {
          ids.add(id)
          return async () => await Promise.resolve()
        },
        end: () => observer.close(),
      },
    })
  const view = (atMs: number): AutoscaleView => ({
    atMs,
    size: 1,
    target: 1,
    metrics: { cpu: 12, in_flight: 0, requests_per_second: 0.5 },
    rest: { kind: 'no-policy' },
  })

  it('go to another worker at once when theirs stops, and readers see what the other one sees', async () => {
    const autoscales = createAutoscaleControl(env.client)
    const settings = { serviceUuid: randomUUID(), serviceName: 'shop', userUuid: randomUUID() }
    const { serviceUuid } = settings
    assert.equal(await autoscales.seen(serviceUuid), undefined)
    const [first, second] = [new StillObserver(view(1_000)), new StillObserver(view(2_000))]
    const [stopping, staying] = [worker(first), worker(second)]
    stopping.start()
    await autoscales.configured(settings)
    await until('it is watched', async () => first.watched.includes(serviceUuid), soon)
    const seenAt = (atMs: number) => async () => (await autoscales.seen(serviceUuid))?.view?.atMs === atMs
    await until('its view is seen', seenAt(1_000), soon)
    const seen = await autoscales.seen(serviceUuid)
    assert.deepEqual(seen?.view, view(1_000))
    assert.partialDeepStrictEqual(seen, { life: { phase: AutoscalePhase.Watching, failures: 0 } })
    assert.equal(seen.broken, undefined)

    staying.start()
    await until('the other worker polls', async () => staying.polls, soon)
    await stopping.stop()
    await until('the other worker watches', async () => second.watched.includes(serviceUuid), atOnce)
    await until('the view of the other is seen', seenAt(2_000), soon)
    assert.equal((await autoscales.seen(serviceUuid))?.broken, undefined)
    assert.deepEqual([first.watched.length, second.watched.length], [1, 1])

    await autoscales.delete(settings)
    await until('it is over', async () => (await autoscales.seen(serviceUuid)) === undefined, soon)
    await staying.stop()
  })

  it('that a killed worker began are called in by the next worker, without an entry in the history', async () => {
    const autoscales = createAutoscaleControl(env.client)
    const settings = { serviceUuid: randomUUID(), serviceName: 'shop', userUuid: randomUUID() }
    const { serviceUuid } = settings
    // This worker is alive, and its watch never hears that it was called in. Temporal sees no difference
    // between it and a watch that hangs or whose worker is gone.
    const observer = new StillObserver(view(5_000))
    const only = worker(observer)
    only.start()
    await autoscales.configured(settings)
    await until('it is watched', async () => observer.watched.length === 1, soon)
    const handle = env.client.workflow.getHandle(autoscaleWorkflowId(serviceUuid))
    const { historyLength } = await handle.describe()
    const gone = new Set<string>()
    assert.equal(await autoscales.callInWatch(serviceUuid, ids), false)
    assert.equal(await autoscales.callInWatch(serviceUuid, gone), true)
    await until('it is watched again', async () => observer.watched.length === 2, atOnce)
    assert.equal((await handle.describe()).historyLength, historyLength)
    assert.equal(await autoscales.callInWatch(randomUUID(), gone), false)

    await autoscales.delete(settings)
    await until('it is over', async () => (await autoscales.seen(serviceUuid)) === undefined, soon)
    assert.equal(await autoscales.callInWatch(serviceUuid, gone), false)
    await only.stop()
  })

  it('that no worker takes up are shown as broken off, with the reason', async () => {
    const autoscales = createAutoscaleControl(env.client)
    const settings = { serviceUuid: randomUUID(), serviceName: 'shop', userUuid: randomUUID() }
    const only = new StillObserver(view(3_000))
    const stopping = worker(only)
    stopping.start()
    await autoscales.configured(settings)
    await until('it is watched', async () => only.watched.length === 1, soon)
    await stopping.stop()
    const broken = async () => (await autoscales.seen(settings.serviceUuid))?.broken
    await until('it is told', async () => (await broken()) !== undefined, soon)
    assert.equal((await broken())?.message, 'the watch is handed over')
    const next = worker(new StillObserver(view(4_000)))
    next.start()
    await autoscales.delete(settings)
    await until('it is over', async () => (await autoscales.seen(settings.serviceUuid)) === undefined, soon)
    await next.stop()
  })
})

import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { retireDrainMs } from '../../src/domain/rollout/plan.ts'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import { GatewayLeasePhase } from '../../src/domain/standby/gateway-lease-state.ts'
import type { InstanceLoad, OpenLease } from '../../src/domain/standby/lease-protocol.ts'
import { defaultBalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import type { BalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import type { Admission, EndReason } from '../../src/gateway/traffic.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const asleepSoon: Partial<OpenLease> = { returnAfterMs: 5, quietConnectionsSleep: true }

describe('what a host says of its instances', function () {
  this.timeout(limitMs)
  let host: FakeLeaseServer
  let one: BalanceScene<FakeLeaseServer>

  beforeEach(async () => {
    host = await FakeLeaseServer.start()
  })
  afterEach(() => {
    one.balancer.close()
    host.close()
  })

  function given(
    over: Partial<RouteService> = {},
    limits: Partial<BalanceLimits> = {},
  ): BalanceScene<FakeLeaseServer> {
    one = new BalanceScene(host, { softLimit: 10, ...over }, limits)
    one.tell([['a', 'running']])
    return one
  }

  function isRefused(): boolean {
    const outcome = one.admit({ signal: AbortSignal.abort() })
    if (outcome instanceof Promise) return false
    if (outcome.admitted) outcome.done()
    return !outcome.admitted
  }

  it('a request that waits for a share of an instance that is gone wakes the next boot', async () => {
    host.answer = () => ({ share: 0 })
    given({ hardLimit: 1 })
    const waiting = one.admit()
    const { instance, memoryBoot } = await host.next('want')
    host.answer = () => ({ boot: memoryBoot + 1, memoryBoot: memoryBoot + 1, share: 1 })
    host.say({ kind: 'gone', instance, boot: memoryBoot })
    assert((await waiting).admitted)
  })

  it('an instance that begins on another host is asked for there, and what is in flight to the lost one ends', async () => {
    const other = await FakeLeaseServer.start()
    try {
      given()
      one.hosts = [{ ...other.node, id: 'node-2' }]
      const before = await one.admission()
      const ends: EndReason[] = []
      before.onEnd((why) => ends.push(why))
      one.tell([['a', 'running', { nodeId: 'node-2' }]])
      assert.deepEqual(ends, ['lost'])
      const after = await one.admission()
      assert.equal((await other.next('open')).instance, 'a')
      before.done()
      after.done()
      // The old host comes back: nobody claims a lease there.
      host.drop()
      assert.deepEqual((await host.next('hello', 2)).held, [])
    } finally {
      other.close()
    }
  })

  describe('when an instance sleeps through a connection', () => {
    async function slept(limits: Partial<BalanceLimits> = {}): Promise<Admission> {
      host.answer = () => asleepSoon
      given({}, limits)
      const quiet = await one.admission({ kind: 'connection' })
      await host.next('idle')
      return quiet
    }

    it('the gateway asks again when the instance speaks by itself', async () => {
      const quiet = await slept()
      quiet.touch()
      assert((await host.next('open', 2)).epoch > 0)
    })

    it('the gateway keeps the lease while bytes pass, and gives it back when none has passed for a while', async () => {
      host.answer = () => ({ returnAfterMs: 1_000, quietConnectionsSleep: true })
      given()
      const quiet = await one.admission({ kind: 'connection' })
      const talk = setInterval(() => quiet.touch(), 5)
      const untilMs = performance.now() + 1_500
      await until('it was looked at', () => performance.now() > untilMs, { limitMs })
      assert.equal(host.all('idle').length, 0)
      clearInterval(talk)
      assert((await host.next('idle')).quietMs >= 1_000)
    })

    it('the connection wakes it although others that waited for it have left', async () => {
      const quiet = await slept()
      host.answer = () => undefined
      const leaving = new AbortController()
      const other = one.admit({ signal: leaving.signal })
      const waking = quiet.awaken()
      leaving.abort()
      await other
      await host.next('open', 2)
      host.drop()
      await host.next('hello', 2)
      host.open(await host.next('open', 3))
      assert.equal(await waking, true)
      assert.equal(host.all('withdraw').length, 0)
    })

    it('it is not woken for a further connection if the hard limit has no room beside the quiet ones', async () => {
      host.answer = () => asleepSoon
      given({ softLimit: 1, hardLimit: 2 })
      const quiet = [await one.admission({ kind: 'connection' }), await one.admission({ kind: 'connection' })]
      await host.next('idle')
      const refusal = one.admit({ kind: 'connection' })
      assert(!(refusal instanceof Promise) && !refusal.admitted && refusal.reason === 'hard-limit')
      assert.equal(host.all('open').length, 1)
      quiet[0]?.done()
      assert((await one.admit({ kind: 'connection' })).admitted)
    })

    it('a request for which the hard limit has no room beside that connection wakes the next instance', async () => {
      host.answer = ({ instance }) => (instance === 'a' ? asleepSoon : {})
      given({ softLimit: 2, hardLimit: 2 })
      one.tell([['a', 'running'], ['b', 'standby']]) // prettier-ignore
      await one.admission({ kind: 'connection' })
      await host.next('idle')
      host.answer = () => undefined
      const waiting = [one.admit(), one.admit()]
      assert(waiting.every((each) => each instanceof Promise))
      const woken = [await host.next('open', 2), await host.next('open', 3)]
      assert.deepEqual(
        woken.map(({ instance }) => instance),
        ['a', 'b'],
      )
    })

    it('the connection does not wait for longer than a new one would', async () => {
      const quiet = await slept({ maxWaitMs: 1_000 })
      host.answer = () => undefined
      assert.equal(await quiet.awaken(), false)
    })

    it('the connection ends when the instance can not be woken', async () => {
      const quiet = await slept()
      const message = 'no memory'
      host.answer = ({ instance, epoch }) =>
        ({ kind: 'refused', instance, epoch, reason: 'failed', message, retryAfterMs: 9_000 }) as const
      assert.equal(await quiet.awaken(), false)
    })

    it('the connection ends when the memory is lost, whether or not its client speaks', async () => {
      const quiet = await slept()
      const ended = new Promise((resolve) => quiet.onEnd(resolve))
      host.answer = () => ({ boot: 2, memoryBoot: 2 })
      await one.admission()
      assert.equal(await ended, 'gone')
    })
  })

  it('admits traffic to a draining instance again when the drain is taken back', async () => {
    given()
    const held = await one.admission()
    host.say({ kind: 'drain', instance: 'a', boot: 1 })
    await until('it drains', () => isRefused(), { limitMs })
    host.say({ kind: 'undrain', instance: 'a', boot: 1 })
    await until('it lets in', () => !isRefused(), { limitMs })
    held.done()
    await until('loads are told', () => host.all('load').length > 0, { limitMs })
    assert.equal(host.all('drained').length, 0)
    assert.equal(host.all('open').length, 1)
  })

  it('tells a listener of the shutdown once, then that it is gone, and nothing after that', async () => {
    given()
    const held = await one.admission()
    const told: string[] = []
    const gone = new Promise<void>((resolve) => {
      held.onEnd((why) => {
        told.push(why)
        if (why === 'gone') resolve()
      })
    })
    for (const kind of ['close', 'close', 'gone', 'gone', 'close'] as const)
      host.say({ kind, instance: 'a', boot: 1 })
    await gone
    held.done()
    await host.next('load')
    assert.deepEqual(told, ['close', 'gone'])
  })

  it('tells a listener at once when the boot is over already', async () => {
    given()
    const held = await one.admission()
    const gone = new Promise((resolve) => held.onEnd(resolve))
    host.say({ kind: 'gone', instance: 'a', boot: 1 })
    await gone
    let told: string | undefined
    held.onEnd((why) => {
      told = why
    })
    assert.equal(told, 'gone')
  })

  it('keeps the second listener when the first stops listening', async () => {
    given()
    const held = await one.admission()
    const stop = held.onEnd(() => assert.fail('it was replaced'))
    const gone = new Promise((resolve) => held.onEnd(resolve))
    stop()
    host.say({ kind: 'gone', instance: 'a', boot: 1 })
    assert.equal(await gone, 'gone')
  })

  it('asks again for a port that was published after the lease was given, and admits its traffic by the answer', async () => {
    given()
    const first = await one.admission()
    host.answer = () => undefined
    const ports = [8080, 9090].map((port) => ({ port, destinationPort: port, handlers: ['tls'] as const }))
    one.service = { ...one.service, ports }
    one.tell([['a', 'running']])
    const late = one.admit({ port: 9090 })
    const open = await host.next('open', 2)
    assert.deepEqual(open.ports, [8080, 9090])
    first.done()
    one.tell([['a', 'running']])
    host.open(open)
    const outcome = await late
    assert(outcome.admitted, JSON.stringify(outcome))
    assert.equal(host.all('open').length, 2)
  })

  it('leaves to what is open at an instance that a rollout let go as much time as its host does', () => {
    assert.ok(defaultBalanceLimits.leftMs > retireDrainMs)
  })

  it('asks connections to a deleted instance to close at first, and ends them later', async () => {
    given({}, { leftMs: 20 })
    const held = await one.admission({ kind: 'connection' })
    const told: string[] = []
    const gone = new Promise<void>((resolve) => {
      held.onEnd((why) => {
        told.push(why)
        if (why === 'gone') resolve()
      })
    })
    one.tell([])
    assert.deepEqual(told, ['close'])
    await gone
    assert.deepEqual(told, ['close', 'gone'])
  })

  it('counts a refusal once, however often the host was asked for it', async () => {
    host.answer = ({ instance, epoch }) =>
      ({ kind: 'refused', instance, epoch, reason: 'stopped', message: 'no', retryAfterMs: 9_000 }) as const
    given({}, { unsettledPollMs: 2, unsettledMs: 500 })
    await one.admit()
    assert(host.all('open').length > 1)
    assert.deepEqual(one.refused, ['no-instance'])
  })

  it('does not ask a host again for a client that has left', async () => {
    host.answer = ({ instance, epoch }) =>
      ({ kind: 'refused', instance, epoch, reason: 'stopped', message: 'no', retryAfterMs: 9_000 }) as const
    given({}, { unsettledPollMs: 60_000, unsettledMs: 60_000 })
    const leaving = new AbortController()
    const outcome = one.admit({ signal: leaving.signal })
    await host.next('open')
    await until('it is refused', () => one.balancer.phases().get(GatewayLeasePhase.Closed) === 1, { limitMs })
    assert.equal(one.balancer.queued, 1)
    leaving.abort()
    const refusal = await outcome
    assert(!refusal.admitted && refusal.reason === 'aborted')
    assert.equal(one.balancer.queued, 0)
  })

  describe('for the metrics of instances', () => {
    async function load(found: (load: InstanceLoad) => boolean, after = 0): Promise<InstanceLoad> {
      return until(
        'the load is told',
        () =>
          host
            .all('load')
            .slice(after)
            .flatMap(({ loads }) => loads)
            .find(found),
        { limitMs },
      )
    }

    /** Drops the connection and waits until the gateway has noticed. What it sends before that is lost. */
    async function lose(): Promise<void> {
      host.drop()
      // The gateway connects again after 50 ms. So this looks in every turn of the event loop.
      while (one.balancer.hosts.connected > 0) await setImmediate()
    }

    it('tells how many wait during a wake, and what became of them', async () => {
      host.answer = () => undefined
      given()
      const waiting = [one.admission(), one.admission({ kind: 'connection' })]
      const before = { instance: 'a', connections: 0, requests: 0, queued: 2, handledMore: 0 }
      assert.partialDeepStrictEqual(await load(({ queued }) => queued === 2), before)
      assert.equal(one.balancer.queued, 2)
      host.open(await host.next('open'))
      const under = { instance: 'a', connections: 1, requests: 1, queued: 0, handledMore: 0 }
      assert.partialDeepStrictEqual(await load(({ requests }) => requests === 1), under)
      for (const each of await Promise.all(waiting)) each.done()
      const over = { instance: 'a', connections: 0, requests: 0, queued: 0, handledMore: 2 }
      assert.partialDeepStrictEqual(await load(({ handledMore }) => handledMore > 0), over)
    })

    it('sends one more report after a finished request, in which no further request was finished', async () => {
      given()
      const admission = await one.admission()
      admission.done()
      const finishedOne = { instance: 'a', connections: 0, requests: 0, queued: 0, handledMore: 1 }
      const reports = () => host.all('load').flatMap(({ loads }) => loads)
      const finished = () => reports().slice(reports().findIndex(({ handledMore }) => handledMore === 1))
      await until('the report after it', () => finished().length > 1, { limitMs })
      assert.partialDeepStrictEqual(finished().slice(0, 2), [finishedOne, { ...finishedOne, handledMore: 0 }])
    })

    it('reports the mean in flight until it does not change any more', async () => {
      given()
      const held = [await one.admission(), await one.admission({ kind: 'connection' })]
      const first = await load(({ inFlight }) => inFlight > 0)
      assert.ok(first.inFlight <= 2)
      const steady = { instance: 'a', connections: 1, requests: 1, queued: 0, inFlight: 2, handledMore: 0 }
      assert.deepEqual(await load(({ inFlight }) => inFlight === 2), steady)
      for (const each of held) each.done()
      const last = await load(({ handledMore, connections }) => handledMore === 2 && connections === 0)
      assert.ok(last.inFlight < 2)
      await load(({ inFlight, requests }) => inFlight === 0 && requests === 0)
      assert.equal(
        host
          .all('load')
          .flatMap(({ loads }) => loads)
          .filter(({ inFlight }) => inFlight === 2).length,
        1,
      )
    })

    it('tells a host that was lost that nobody waits any more', async () => {
      host.answer = () => undefined
      given()
      const leaving = new AbortController()
      const waiting = one.admit({ signal: leaving.signal })
      await load(({ queued }) => queued === 1)
      await lose()
      leaving.abort()
      await waiting
      const none = { instance: 'a', connections: 0, requests: 0, queued: 0, handledMore: 0 }
      assert.partialDeepStrictEqual(await load(({ queued }) => queued === 0), none)
    })

    it('tells a host that was lost what is in flight, and what ended meanwhile', async () => {
      given()
      const held = await one.admission({ kind: 'connection' })
      await load(({ connections }) => connections === 1)
      host.drop()
      await host.next('hello', 2)
      const before = host.all('load').length
      await load(({ connections }) => connections === 1, before)
      await lose()
      held.done()
      const told = host.all('load').length
      await host.next('hello', 3)
      const over = { instance: 'a', connections: 0, requests: 0, queued: 0, handledMore: 1 }
      assert.partialDeepStrictEqual(await load(() => true, told), over)
    })
  })
})

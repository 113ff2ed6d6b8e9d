import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import type { BalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000

function denial({ instance, epoch }: { readonly instance: string; readonly epoch: number }) {
  const message = 'It does not run.'
  return { kind: 'refused', instance, epoch, reason: 'stopped', message, retryAfterMs: 9_000 } as const
}

describe('the balancer', function () {
  this.timeout(limitMs)
  let host: FakeLeaseServer
  let scene: BalanceScene<FakeLeaseServer> | undefined

  beforeEach(async () => {
    host = await FakeLeaseServer.start()
  })
  afterEach(() => {
    scene?.balancer.close()
    host.close()
  })

  function given(
    instances: Parameters<BalanceScene['tell']>[0],
    over: Partial<RouteService> = {},
    limits: Partial<BalanceLimits> = {},
  ): BalanceScene<FakeLeaseServer> {
    scene = new BalanceScene(host, over, limits)
    scene.tell(instances)
    return scene
  }

  it('asks once for a burst of two hundred at one sleeper, and serves all of them', async () => {
    host.answer = () => undefined
    const { host: agent } = given([['a', 'standby']], { hardLimit: 65_535 })
    const all = Array.from({ length: 200 }, async () => scene?.admit())
    agent.open(await agent.next('open'), { woken: { kind: 'restore', wakeUs: 5 } })
    const outcomes = await Promise.all(all)
    assert.equal(outcomes.filter((outcome) => outcome?.admitted).length, 200)
    assert.equal(agent.all('open').length, 1)
    assert(outcomes[0]?.admitted && outcomes[0].timing.wake?.kind === 'restore')
  })

  it('admits at once, without a promise, if an instance is open and below its soft limit', async () => {
    const given1 = given([['a', 'running']])
    const first = await given1.admission()
    first.done()
    assert(!(given1.admit() instanceof Promise))
  })

  it('wakes the next instance with the request above the soft limit, and exceeds the limit when none is left', async () => {
    const one = given([['a', 'running'], ['b', 'standby']], { softLimit: 2 }) // prettier-ignore
    const taken = []
    for (let count = 0; count < 6; count++) taken.push((await one.admission()).instanceUuid)
    assert.deepEqual(taken.slice(0, 4), ['a', 'a', 'b', 'b'])
    assert.deepEqual(taken.slice(4).toSorted(), ['a', 'b'])
  })

  describe('over instances that run', () => {
    const three = [['a', 'running'], ['b', 'running'], ['c', 'standby']] as const // prettier-ignore
    const taken = async (one: BalanceScene<FakeLeaseServer>, count: number) => {
      const uuids: string[] = []
      for (let each = 0; each < count; each++) uuids.push((await one.admission()).instanceUuid)
      return uuids.toSorted().join('')
    }

    it('spreads traffic even far below the soft limit, and wakes no sleeper for that', async () => {
      const one = given(three, { softLimit: 100 })
      await one.admission()
      await host.next('open', 2)
      await until('both are open', () => (one.balancer.phases().get('open') ?? 0) === 2, { limitMs })
      assert.equal(await taken(one, 9), 'aaaabbbbb')
      assert.deepEqual(
        host.all('open').map(({ instance }) => instance),
        ['a', 'b'],
      )
    })

    it('uses an instance as soon as it runs, also when it runs again later', async () => {
      const one = given([['a', 'running'], ['b', 'starting']], { softLimit: 100 }) // prettier-ignore
      assert.equal(await taken(one, 3), 'aaa')
      for (const run of [1, 2]) {
        one.tell([['a', 'running'], ['b', 'running']]) // prettier-ignore
        await one.admission()
        await host.next('open', 1 + run)
        await until('it is open', () => one.balancer.phases().get('open') === 2, { limitMs })
        host.say({ kind: 'gone', instance: 'b', boot: run })
        await until('it is over', () => one.balancer.phases().get('closed') === 1, { limitMs })
        one.tell([['a', 'running'], ['b', 'stopped']]) // prettier-ignore
      }
    })

    it('uses an instance whose lease it gave back only above the soft limit of the others', async () => {
      host.answer = ({ instance }) => (instance === 'b' ? { returnAfterMs: 20 } : {})
      const one = given(three, { softLimit: 3 })
      await one.admission()
      assert.equal((await host.next('idle')).instance, 'b')
      assert.equal(await taken(one, 2), 'aa')
      assert.equal(host.all('open').length, 2)
      assert.equal(await taken(one, 1), 'b')
    })

    it('does not ask a host again and again that refuses', async () => {
      host.answer = (open) => (open.instance === 'b' ? denial(open) : {})
      const one = given(three, { softLimit: 100 })
      await one.admission()
      await until('it is refused', () => host.all('open').length === 2, { limitMs })
      assert.equal(await taken(one, 5), 'aaaaa')
      assert.equal(host.all('open').length, 2)
    })
  })

  it('refuses at the hard limit at once', async () => {
    const one = given([['a', 'running']], { softLimit: 1, hardLimit: 2 })
    const first = await one.admission()
    await one.admission()
    const refusal = one.admit()
    assert(!(refusal instanceof Promise) && !refusal.admitted && refusal.reason === 'hard-limit')
    first.done()
    assert((await one.admit()).admitted)
  })

  it('lets as many wait for a wake as the woken instances can take, and refuses more at once', async () => {
    host.answer = ({ instance }) => (instance === 'a' ? {} : undefined)
    const one = given([['a', 'running'], ['b', 'standby']], { hardLimit: 1 }) // prettier-ignore
    await one.admission()
    const second = one.admit()
    assert(second instanceof Promise)
    const third = one.admit()
    assert(!(third instanceof Promise) && !third.admitted && third.reason === 'hard-limit')
    host.open(await host.next('open', 2))
    const outcome = await second
    assert(outcome.admitted && outcome.instanceUuid === 'b')
  })

  it('lets as many wait above the soft limit as the hard limit leaves room for', async () => {
    host.answer = () => undefined
    const one = given([['a', 'standby'], ['b', 'stopped']], { softLimit: 1, hardLimit: 3 }) // prettier-ignore
    const waiting = [one.admit(), one.admit(), one.admit()]
    assert(waiting.every((each) => each instanceof Promise))
    const fourth = one.admit()
    assert(!(fourth instanceof Promise) && !fourth.admitted && fourth.reason === 'hard-limit')
    host.open(await host.next('open'))
    assert((await Promise.all(waiting)).every(({ admitted }) => admitted))
  })

  it('admits a request that waits for a wake to another instance if that gets free earlier', async () => {
    host.answer = ({ instance }) => (instance === 'a' ? {} : undefined)
    const one = given([['a', 'running'], ['b', 'standby']]) // prettier-ignore
    const first = await one.admission()
    const second = one.admit()
    await host.next('open', 2)
    first.done()
    const outcome = await second
    assert(outcome.admitted && outcome.instanceUuid === 'a')
  })

  it('tries another instance first when a wake fails, and refuses with the reason when none is left', async () => {
    const message = 'no memory'
    host.answer = ({ instance, epoch }) => {
      if (instance === 'b') return { boot: 1 }
      return { kind: 'refused', instance, epoch, reason: 'failed', message, retryAfterMs: 9_000 } as const
    }
    const one = given([['a', 'standby'], ['b', 'standby']]) // prettier-ignore
    assert.equal((await one.admission()).instanceUuid, 'b')
    one.tell([['a', 'standby']])
    const refusal = await one.admit()
    assert(!refusal.admitted && refusal.reason === 'wake-failed' && refusal.message === 'no memory')
  })

  it('gives the lease back after the settle time, and asks again with a higher epoch', async () => {
    host.answer = () => ({ returnAfterMs: 20 })
    const one = given([['a', 'running']])
    const first = await one.admission()
    first.done()
    const idle = await host.next('idle')
    assert(idle.quietMs >= 20)
    assert.deepEqual(one.forgotten, ['a 1'])
    await one.admission()
    assert((await host.next('open', 2)).epoch > idle.epoch)
  })

  it('tells a host what it holds after a lost connection, and goes on with that', async () => {
    const one = given([['a', 'running']])
    const held = await one.admission()
    host.drop()
    assert.deepEqual(
      (await host.next('hello', 2)).held.map(({ instance, boot }) => ({ instance, boot })),
      [{ instance: 'a', boot: 1 }],
    )
    held.done()
    assert(!(one.admit() instanceof Promise))
    assert.equal(host.all('open').length, 1)
  })

  it('keeps a lease while its host is away, and gives it back once the host has answered the hello that names it', async () => {
    host.answer = () => ({ returnAfterMs: 50 })
    const one = given([['a', 'running']])
    const held = await one.admission()
    held.done()
    host.reserved = true
    host.drop()
    const { held: told } = await host.next('hello', 2)
    assert.deepEqual(
      told.map(({ instance }) => instance),
      ['a'],
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(host.all('idle').length, 0)
    host.say({ kind: 'welcome', nodeId: 'node-1' })
    assert.equal((await host.next('idle')).epoch, told[0]?.epoch)
  })

  it('lets nothing into a draining boot, and says when its last request is done', async () => {
    const one = given([['a', 'running']])
    const last = await one.admission()
    let ended: string | undefined
    last.onEnd((why) => {
      ended = why
    })
    host.say({ kind: 'drain', instance: 'a', boot: 1 })
    host.say({ kind: 'close', instance: 'a', boot: 1 })
    await new Promise<void>((resolve) => last.onEnd(() => resolve()))
    const refusal = await one.admit()
    assert(!refusal.admitted && refusal.reason === 'no-instance')
    assert.equal(host.all('drained').length, 0)
    last.done()
    assert.equal((await host.next('drained')).boot, 1)
    assert.equal(ended, undefined)
  })

  it('stops using an instance at once when it leaves the routes', async () => {
    const one = given([['a', 'running']])
    await one.admission()
    one.tell([])
    const refusal = one.admit()
    assert(!(refusal instanceof Promise) && !refusal.admitted && refusal.reason === 'no-instance')
  })

  it('asks a host again for a short time if that host does not know yet of an instance in the routes', async () => {
    let asked = 0
    host.answer = (message) => {
      asked += 1
      return asked > 2 ? {} : denial(message)
    }
    const one = given([['a', 'standby']], {}, { unsettledPollMs: 5 })
    assert.equal((await one.admission()).instanceUuid, 'a')
    assert.equal(asked, 3)
  })

  it('lets requests wait for an instance that its host ends and then starts again', async () => {
    const one = given([['a', 'running']], {}, { unsettledPollMs: 5, unsettledMs: 30 })
    await one.admission()
    host.say({ kind: 'drain', instance: 'a', boot: 1 })
    one.tell([['a', 'starting']])
    let isDown = true
    host.answer = (open) => (isDown ? { ...denial(open), reason: 'draining' } : { boot: 2 })
    const waiting = one.admission()
    host.say({ kind: 'gone', instance: 'a', boot: 1 })
    await delay(100)
    isDown = false
    const admission = await waiting
    assert(admission.admitted)
    assert.equal(admission.instanceUuid, 'a')
  })

  it('lets no request wait for an instance that its host ends for good', async () => {
    const one = given([['a', 'running']], {}, { unsettledPollMs: 5, unsettledMs: 30 })
    await one.admission()
    host.answer = (open) => ({ ...denial(open), reason: 'draining' })
    host.say({ kind: 'drain', instance: 'a', boot: 1 })
    one.tell([['a', 'stopping']])
    const refusal = await one.admit()
    assert(!refusal.admitted && refusal.reason === 'no-instance')
  })

  it('believes a host that goes on denying an instance in the routes', async () => {
    host.answer = denial
    const one = given([['a', 'standby']], {}, { unsettledPollMs: 5, unsettledMs: 30 })
    const refusal = await one.admit()
    assert(!refusal.admitted && refusal.reason === 'no-instance')
  })

  it('bounds the queue by number and by time', async () => {
    host.answer = () => undefined
    const one = given([['a', 'standby']], {}, { maxQueuedPerService: 1, maxWaitMs: 20 })
    const first = one.admit()
    const second = await one.admit()
    assert(!second.admitted && second.reason === 'queue-full')
    const late = await first
    assert(!late.admitted && late.reason === 'timed-out')
    await host.next('withdraw')
  })

  it('gives one user at most half of the queue for sleepers, so that another user has room', async () => {
    host.answer = () => undefined
    const one = given([['a', 'standby']], { userUuid: 'storming' }, { maxQueued: 10 })
    const other = { ...one.service, uuid: 'service-2', userUuid: 'other' }
    const sleeper = {
      uuid: 'b',
      name: 'b',
      serviceUuid: other.uuid,
      nodeId: 'node-1',
      state: 'standby',
    } as const
    one.table.apply({ kind: 'begin', snapshot: false })
    one.table.apply({ kind: 'service', service: other })
    one.table.apply({ kind: 'instance', instance: sleeper })
    one.table.apply({ kind: 'end', revision: '2' })
    const asked = Array.from({ length: 10 }, () => one.admit())
    assert.equal(asked.filter((each) => each instanceof Promise).length, 5)
    const refusal = asked.at(-1)
    assert(refusal !== undefined && !(refusal instanceof Promise))
    assert(!refusal.admitted && refusal.reason === 'queue-full')
    host.answer = () => ({})
    assert.equal((await one.admission({ service: other })).instanceUuid, 'b')
  })

  it('reports to the host what is in flight, what waits and what was finished', async () => {
    const one = given([['a', 'running']])
    const first = await one.admission()
    await one.admission()
    first.done()
    const loads = async (): Promise<object> => {
      for (let nth = 1; ; nth++) {
        const [load] = (await host.next('load', nth)).loads
        if (load?.handledMore === 1) return load
      }
    }
    assert.partialDeepStrictEqual(await loads(), {
      instance: 'a',
      connections: 0,
      requests: 1,
      queued: 0,
      handledMore: 1,
    })
  })
})

import assert from 'node:assert/strict'
import dns from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import { GatewayLeasePhase } from '../../src/domain/standby/gateway-lease-state.ts'
import { hostAwayAfterMs, leaseValidMs } from '../../src/domain/standby/lease-protocol.ts'
import { unreachableAfterMs } from '../../src/domain/host/silence.ts'
import type { EndReason } from '../../src/gateway/traffic.ts'
import type { OpenLease } from '../../src/domain/standby/lease-protocol.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
/** Leases stay valid in the first time without a sign of the host. In the second the gateway tries again. */
const [stepMs, refusedWithinMs] = [leaseValidMs / 2, 1_200]
const asleepSoon: Partial<OpenLease> = { returnAfterMs: 5, quietConnectionsSleep: true }

describe('a host', function () {
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

  function given(over: Partial<RouteService> = {}): void {
    one = new BalanceScene(host, { softLimit: 10, ...over }, {})
    one.tell([['a', 'running']])
  }

  async function silence(silentMs: number, phase: GatewayLeasePhase): Promise<void> {
    host.mute = true
    one.skewMs += silentMs
    await until('its silence counts', () => one.balancer.phases().get(phase) === 1, { limitMs })
  }

  function isRefused(): boolean {
    const outcome = one.admit({ signal: AbortSignal.abort() })
    if (outcome instanceof Promise) return false
    if (outcome.admitted) outcome.done()
    return !outcome.admitted
  }

  describe('that is silent', () => {
    it('makes new traffic wait until it answers again, and keeps what is in flight', async () => {
      given()
      const held = await one.admission()
      held.onEnd(() => assert.fail('it goes on'))
      await silence(leaseValidMs, GatewayLeasePhase.Unsure)
      const waiting = one.admit()
      assert(waiting instanceof Promise)
      host.mute = false
      host.say({ kind: 'beat' })
      assert((await waiting).admitted)
      held.done()
    })

    it('gets new traffic refused with the reason when it stays away', async () => {
      given()
      await one.admission()
      await silence(leaseValidMs, GatewayLeasePhase.Unsure)
      const waiting = one.admit()
      one.skewMs += hostAwayAfterMs
      const refusal = await waiting
      assert(!refusal.admitted && refusal.reason === 'host-away' && refusal.retryAfterMs > 0)
    })

    it('makes a connection to a sleeper wait, and gets that connection ended when it stays away', async () => {
      host.answer = () => asleepSoon
      given()
      const quiet = await one.admission({ kind: 'connection' })
      await host.next('idle')
      host.drop()
      const waking = quiet.awaken()
      assert.equal(await waking, true)
      await host.next('idle', 2)
      host.mute = true
      const again = quiet.awaken()
      one.skewMs += hostAwayAfterMs
      assert.equal(await again, false)
    })
  })

  describe('without an agent', () => {
    it('still gets traffic for its running instances, even after a quiet time, and makes traffic for a sleeper wait', async () => {
      host.answer = ({ instance }) => (instance === 'a' ? { returnAfterMs: 20 } : {})
      given()
      const held = await one.admission()
      held.done()
      host.die()
      one.tell([
        ['a', 'running'],
        ['b', 'standby'],
      ])
      const untilMs = performance.now() + leaseValidMs + 2_000
      let looks = 0
      await until(
        'a lease would be over',
        () => {
          looks += 1
          assert(!isRefused(), 'it is served')
          assert.equal(one.balancer.phases().get(GatewayLeasePhase.Unsure), undefined)
          return performance.now() > untilMs
        },
        { limitMs },
      )
      assert(looks > 10)
      const crowd = Array.from({ length: 10 }, () => one.admit())
      assert(crowd.every((outcome) => !(outcome instanceof Promise)))
      const waiting = one.admit()
      assert(waiting instanceof Promise, 'the one that sleeps has to be woken')
      await host.revive()
      const { held: told } = await host.next('hello', 2)
      assert.deepEqual(
        told.map(({ instance }) => instance),
        ['a'],
      )
      const woken = await waiting
      assert(woken.admitted && woken.instanceUuid === 'b')
    })

    it('is waited for by what needs more of the hard limit, and is asked for it when it is back', async () => {
      given()
      host.answer = () => ({ share: 1 })
      const held = await one.admission()
      host.die()
      await until('the gateway knows', () => one.balancer.hosts.connected === 0, { limitMs })
      const waiting = one.admit()
      assert(waiting instanceof Promise, 'the host may have more')
      await host.revive()
      const { memoryBoot, count } = await host.next('want')
      host.say({ kind: 'share', instance: 'a', memoryBoot, count })
      const more = await waiting
      assert(more.admitted)
      more.done()
      held.done()
    })

    it('is not waited for if another instance has room, also by what waited for it already', async () => {
      const other = await FakeLeaseServer.start()
      try {
        given()
        one.hosts = [{ ...other.node, id: 'node-2' }]
        one.tell([['a', 'running'], ['b', 'running', { nodeId: 'node-2' }]]) // prettier-ignore
        host.answer = () => ({ share: 1 })
        other.answer = () => ({ share: 9 })
        const held = await Promise.all(Array.from({ length: 2 }, async () => await one.admission()))
        await other.next('open')
        const before = one.admit()
        const diedMs = performance.now()
        host.die()
        const outcome = await before
        assert(outcome.admitted && outcome.instanceUuid === 'b')
        assert(performance.now() - diedMs < hostAwayAfterMs / 2, 'its host does not count as away yet')
        for (const each of [...held, outcome]) each.done()
      } finally {
        other.close()
      }
    })

    describe('for long', () => {
      /** Lets time pass in which the host's machine refuses connections, so that leases stay valid. */
      async function staysAway(): Promise<void> {
        const untilMs = one.skewMs + hostAwayAfterMs + stepMs
        while (one.skewMs < untilMs) {
          one.skewMs += stepMs
          await delay(refusedWithinMs)
        }
        assert.equal(one.balancer.phases().get(GatewayLeasePhase.Open), 1, 'what runs is served')
      }

      it('gets what needs more of the hard limit refused, with the reason', async () => {
        given()
        host.answer = () => ({ share: 1 })
        const held = await one.admission()
        host.die()
        const waiting = one.admit()
        assert(waiting instanceof Promise)
        await staysAway()
        const refusal = await waiting
        assert(!refusal.admitted && refusal.reason === 'host-away', JSON.stringify(refusal))
        held.done()
      })

      it('gets what is above the whole hard limit refused for that reason', async () => {
        given({ hardLimit: 1 })
        host.answer = () => ({ share: 1 })
        const held = await one.admission()
        host.die()
        await staysAway()
        const refusal = await one.admit()
        assert(!refusal.admitted && refusal.reason === 'hard-limit', JSON.stringify(refusal))
        held.done()
      })
    })
  })

  describe('that is silent and whose machine can not be reached', () => {
    const { lookup } = dns
    const name = 'host.roost.test'
    let isThere = true
    before(() => {
      const find = (
        wanted: string,
        options: dns.LookupOptions,
        done: (...found: unknown[]) => void,
      ): void => {
        if (wanted !== name) return lookup(wanted, options as never, done as never)
        if (!isThere) return done(Object.assign(new Error('nobody'), { code: 'EHOSTUNREACH' }))
        if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }])
        else done(null, '127.0.0.1', 4)
      }
      dns.lookup = find as never
    })
    after(() => {
      dns.lookup = lookup
    })

    async function lost(hangs: boolean): Promise<EndReason[]> {
      host.address = name
      isThere = true
      given()
      const held = await one.admission()
      const told: EndReason[] = []
      held.onEnd((why) => told.push(why))
      await silence(leaseValidMs, GatewayLeasePhase.Unsure)
      isThere = hangs
      one.skewMs += unreachableAfterMs
      if (hangs) await host.next('hello', 3)
      else await until('what is under way has ended', () => told.length > 0, { limitMs })
      held.done()
      return told
    }

    it('gets what is in flight ended, once', async () => {
      assert.deepEqual(await lost(false), ['lost'])
      isThere = true
      host.mute = false
      await until('it is back', () => one.balancer.hosts.connected === 1, { limitMs })
      const again = await one.admission()
      again.onEnd(() => assert.fail('the same boot runs on'))
    })

    it('keeps what is in flight if only its agent hangs', async () => {
      assert.deepEqual(await lost(true), [])
    })
  })

  describe('that is released', () => {
    let next: FakeLeaseServer | undefined
    afterEach(() => next?.close())

    async function released(): Promise<void> {
      given()
      const before = await one.admission()
      before.done()
      one.release()
      await until('it is known to be away', () => isRefused(), { limitMs })
    }

    it('gets traffic again once another host joins under its id and opens the instance', async () => {
      await released()
      next = await FakeLeaseServer.start('another secret')
      next.answer = () => ({ boot: 2, memoryBoot: 2 })
      one.join(next)
      await next.next('hello')
      await until('it lets in', () => !isRefused(), { limitMs })
      const admission = await one.admission()
      assert.equal(admission.boot, 2)
      assert.equal(next.all('open').length, 1)
      admission.done()
    })

    it('gets traffic again when the same host joins at the same address', async () => {
      await released()
      one.join(host)
      await until('it lets in', () => !isRefused(), { limitMs })
      assert((await one.admission()).admitted)
    })

    it('is succeeded by a host that hears of the leases held before, so that it can deny them', async () => {
      await released()
      next = await FakeLeaseServer.start('another secret')
      one.join(next)
      const { held } = await next.next('hello')
      assert.deepEqual(
        held.map(({ instance, boot }) => ({ instance, boot })),
        [{ instance: 'a', boot: 1 }],
      )
    })
  })
})

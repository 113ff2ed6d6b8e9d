import assert from 'node:assert/strict'
import { GatePhase } from '../../src/domain/gate-state.ts'
import { hostAwayAfterMs, leaseValidMs } from '../../src/domain/traffic-protocol.ts'
import type { OpenLease } from '../../src/domain/traffic-protocol.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { GatewayHost } from '../support/gateway-host.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const asleepSoon: Partial<OpenLease> = { returnAfterMs: 5, quietConnectionsSleep: true }

describe('a host', function () {
  this.timeout(limitMs)
  let host: GatewayHost
  let one: BalanceScene

  beforeEach(async () => {
    host = await GatewayHost.start()
  })
  afterEach(() => {
    one.balancer.close()
    host.close()
  })

  function given(): void {
    one = new BalanceScene(host, { softLimit: 10 }, {})
    one.tell([['a', 'running']])
  }

  async function silence(silentMs: number, phase: GatePhase): Promise<void> {
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
    it('has who is new wait until it has answered again, and lets what is under way go on', async () => {
      given()
      const held = await one.admission()
      held.onEnd(() => assert.fail('it goes on'))
      await silence(leaseValidMs, GatePhase.Unsure)
      const waiting = one.admit()
      assert(waiting instanceof Promise)
      host.mute = false
      host.say({ kind: 'beat' })
      assert((await waiting).admitted)
      held.done()
    })

    it('refuses them with the reason when it stays away', async () => {
      given()
      await one.admission()
      await silence(leaseValidMs, GatePhase.Unsure)
      const waiting = one.admit()
      one.skewMs += hostAwayAfterMs
      const refusal = await waiting
      assert(!refusal.admitted && refusal.reason === 'host-away' && refusal.retryAfterMs > 0)
    })

    it('has a connection that was slept through wait for it, and ends it when it stays away', async () => {
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

  describe('that is released', () => {
    let next: GatewayHost | undefined
    afterEach(() => next?.close())

    async function released(): Promise<void> {
      given()
      const before = await one.admission()
      before.done()
      one.release()
      await until('it is known to be away', () => isRefused(), { limitMs })
    }

    it('lets in again what the next host that joins under its id opens', async () => {
      await released()
      next = await GatewayHost.start('another secret')
      next.answer = () => ({ boot: 2, memory: 2 })
      one.join(next)
      await next.next('hello')
      await until('it lets in', () => !isRefused(), { limitMs })
      const admission = await one.admission()
      assert.equal(admission.boot, 2)
      assert.equal(next.all('open').length, 1)
      admission.done()
    })

    it('lets in again when that is the same one at the same place', async () => {
      await released()
      one.join(host)
      await until('it lets in', () => !isRefused(), { limitMs })
      assert((await one.admission()).admitted)
    })

    it('tells the next one what it is believed to have, so that this can be denied', async () => {
      await released()
      next = await GatewayHost.start('another secret')
      one.join(next)
      const { held } = await next.next('hello')
      assert.deepEqual(
        held.map(({ instance, boot }) => ({ instance, boot })),
        [{ instance: 'a', boot: 1 }],
      )
    })
  })
})

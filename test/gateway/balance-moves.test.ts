import assert from 'node:assert/strict'
import type { OpenLease } from '../../src/domain/standby/lease-protocol.ts'
import type { Admission, EndReason } from '../../src/gateway/traffic.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'

const asleepSoon: Partial<OpenLease> = { returnAfterMs: 5, quietConnectionsSleep: true }

describe('when an instance moves to another host', () => {
  let host: FakeLeaseServer
  let one: BalanceScene<FakeLeaseServer>

  let other: FakeLeaseServer

  beforeEach(async () => {
    host = await FakeLeaseServer.start()
    other = await FakeLeaseServer.start()
    one = new BalanceScene(host, { softLimit: 10 }, {})
    one.hosts = [{ ...other.node, id: 'node-2' }]
    one.tell([['a', 'running']])
  })
  afterEach(() => {
    one.balancer.close()
    host.close()
    other.close()
  })

  /** Returns a request in flight, and one that waits, while the old host holds the instance. */
  async function held(): Promise<{ readonly inFlight: Admission; readonly waiting: Promise<Admission> }> {
    const inFlight = await one.admission()
    assert.equal(inFlight.slept, false)
    host.answer = () => undefined
    host.say({ kind: 'rest', instance: 'a', boot: 1, withinMs: 0 })
    assert.equal((await host.next('open', 2)).patient, true)
    const waiting = one.admission()
    assert.equal((await host.next('open', 3)).patient, undefined)
    return { inFlight, waiting }
  }

  const move = () => one.tell([['a', 'running', { nodeId: 'node-2' }]])

  it('the new one is asked for what waits, and what is in flight goes on', async () => {
    const { inFlight, waiting } = await held()
    const ends: EndReason[] = []
    inFlight.onEnd((why) => ends.push(why))
    other.answer = () => ({ boot: 2, memoryBoot: 1 })
    assert.equal(inFlight.slept, true)
    move()
    const after = await waiting
    assert.deepEqual([inFlight.slept, after.slept], [true, false])
    // What the old host says now counts no more.
    host.say({ kind: 'gone', instance: 'a', boot: 2 })
    host.drop()
    assert.deepEqual((await host.next('hello', 2)).held, [])
    assert.deepEqual(ends, [])
    inFlight.done()
    after.done()
  })

  it('what is in flight ends if its memory was left behind', async () => {
    const { inFlight, waiting } = await held()
    const ended = new Promise((resolve) => inFlight.onEnd(resolve))
    other.answer = () => ({ boot: 2, memoryBoot: 2 })
    move()
    assert.equal(await ended, 'gone')
    const after = await waiting
    after.done()
  })

  it('a quiet connection wakes it on the new one', async () => {
    host.answer = () => asleepSoon
    const quiet = await one.admission({ kind: 'connection' })
    await host.next('idle')
    move()
    other.answer = () => ({ boot: 2, memoryBoot: 1 })
    assert.equal(await quiet.awaken(), true)
    assert.equal(other.all('open').length, 1)
    assert.equal(host.all('open').length, 1)
  })
})

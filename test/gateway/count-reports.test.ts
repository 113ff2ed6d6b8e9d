import assert from 'node:assert/strict'
import type { GatewayMessage } from '../../src/domain/standby/lease-protocol.ts'
import { BalanceScene } from '../support/balance-scene.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const hourMs = 3_600_000

describe('a host that asks for the counts', function () {
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

  /** No report comes by itself: the next interval is over in an hour. */
  async function given(): Promise<void> {
    one = new BalanceScene(host, { softLimit: 10 }, { loadReportMs: hourMs })
    one.tell([['a', 'running']])
    await until('the host is connected', () => one.balancer.hosts.connected === 1, { limitMs })
  }

  let number = 0
  async function asked(): Promise<readonly GatewayMessage[]> {
    const before = host.heard.length
    number += 1
    host.say({ kind: 'report', number })
    const answered = () => host.all('reported').some((each) => each.number === number)
    await until('the counts are told', answered, { limitMs })
    return host.heard.slice(before).filter(({ kind }) => kind === 'counts' || kind === 'load')
  }

  const counts = (connections: number, requests: number, handledMore: number, queued = 0) => [
    { kind: 'counts', counts: [{ instance: 'a', connections, requests, queued, handledMore }] },
  ]

  it('hears at once what is in flight and what was finished, and nothing twice', async () => {
    await given()
    assert.deepEqual(await asked(), [])
    const first = await one.admission()
    const second = await one.admission({ kind: 'connection' })
    assert.deepEqual(await asked(), counts(1, 1, 0))
    assert.deepEqual(await asked(), [])
    first.done()
    assert.deepEqual(await asked(), counts(1, 0, 1))
    second.done()
    assert.deepEqual(await asked(), counts(0, 0, 1))
    assert.deepEqual(await asked(), [])
  })

  it('hears everything in a report if it knows nothing yet', async () => {
    await given()
    await one.admission()
    const load = { instance: 'a', connections: 0, requests: 1, queued: 0, handledMore: 0 }
    assert.partialDeepStrictEqual(await asked(), [{ kind: 'load', loads: [load] }])
    host.drop()
    await host.next('hello', 2)
    await until('it is connected again', () => one.balancer.hosts.connected === 1, { limitMs })
    assert.partialDeepStrictEqual(await asked(), [{ kind: 'load', loads: [load] }])
  })

  it('hears of who waits, and that nobody waits any more', async () => {
    host.answer = () => undefined
    await given()
    await asked()
    const leaving = new AbortController()
    const waiting = one.admit({ signal: leaving.signal })
    assert.deepEqual(await asked(), counts(0, 0, 0, 1))
    leaving.abort()
    await waiting
    assert.deepEqual(await asked(), counts(0, 0, 0))
  })
})

describe('what a report tells after the counts were told', () => {
  it('is what was finished in its whole interval, and how much of it was told already', async () => {
    const host = await FakeLeaseServer.start()
    const one = new BalanceScene(host, { softLimit: 10 }, { loadReportMs: 200 })
    try {
      one.tell([['a', 'running']])
      const held = await one.admission()
      await host.next('load')
      held.done()
      host.say({ kind: 'report', number: 1 })
      await host.next('reported')
      const told = () =>
        host.heard.flatMap((message) => {
          if (message.kind === 'counts') return message.counts
          return message.kind === 'load' ? message.loads : []
        })
      const sum = (of: (each: ReturnType<typeof told>[number]) => number) =>
        told().reduce((total, each) => total + of(each), 0)
      const rated = (each: object) => ('inFlight' in each ? 1 : 0)
      // The periodic report may come before or after the answer to the question. In both cases the finished
      // request counts once in the sum and once in the rates.
      const inRates = (each: ReturnType<typeof told>[number]) =>
        rated(each) * (each.handledMore + ('handledTold' in each ? Number(each.handledTold) : 0))
      await until('a report tells of it', () => sum(inRates) > 0, { limitMs })
      assert.deepEqual([sum(({ handledMore }) => handledMore), sum(inRates)], [1, 1])
    } finally {
      one.balancer.close()
      host.close()
    }
  })
})

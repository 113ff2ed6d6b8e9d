import assert from 'node:assert/strict'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { InstanceLoads } from '../../../src/host/instance/loads.ts'
import { UsageMeter } from '../../../src/host/instance/usage-meter.ts'
import { until } from '../../support/until.ts'
import { TestGateway } from '../leases/gateway.ts'
import { Machine, otherUuid, uuid } from '../agent/machine.ts'

const idle = { instance: uuid, connections: 0, requests: 0, queued: 0, inFlight: 0, handledMore: 0 }

describe('the loads of a host', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  it('are those of the instances that run there, with the clock at which they were read', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    const meter = new UsageMeter(live.ports, live.agent.entries, () => 77)
    live.agent.leases.noteLoads('g', [
      { instance: uuid, connections: 1, requests: 2, queued: 3, inFlight: 2.5, handledMore: 4 },
    ])
    const { atMs, loads } = await meter.loadsOf([uuid, otherUuid])
    assert.equal(atMs, 77)
    assert.deepEqual(Object.keys(loads), [uuid])
    assert.partialDeepStrictEqual(loads[uuid], { inFlight: 5.5, handledPerSecond: 4 })
  })

  it('have the CPU time that the VM used, over boots and agents, and never less', async () => {
    const live = await machine.readyAgent()
    const meter = new UsageMeter(live.ports, live.agent.entries)
    const read = async (of = meter) => (await of.loadsOf([uuid])).loads[uuid]?.cpuTimeMs ?? Number.NaN
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    machine.host.setCpu({ instanceUuid: uuid, boot: 1 }, 1_000_000)
    await until('a second of CPU is used', async () => (await read()) >= 1_000, { limitMs: 30_000 })
    const first = await read()
    await live.agent.stop({ instanceUuid: uuid, boot: 1, forced: true, graceMs: 0 })
    await live.agent.start({ instanceUuid: uuid, boot: 2 })
    const again = await read()
    assert.ok(again >= first)
    live.kill()
    const next = await machine.readyAgent()
    assert.ok((await read(new UsageMeter(next.ports, next.agent.entries))) >= again)
  })

  it('leave out instances that do not run: they would pass for instances with nothing to do', async () => {
    const live = await machine.readyAgent()
    const meter = new UsageMeter(live.ports, live.agent.entries)
    const told = async (): Promise<number> =>
      Object.keys((await meter.loadsOf([uuid, otherUuid])).loads).length
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await live.agent.start({ instanceUuid: otherUuid, boot: 1 })
    assert.equal(await told(), 2)
    await live.agent.stop({ instanceUuid: uuid, boot: 1, forced: true, graceMs: 0 })
    assert.equal(await told(), 1)
    machine.host.end({ instanceUuid: otherUuid, boot: 1 }, { cause: ExitCause.KernelPanic })
    await until('the end is noted', async () => (await told()) === 0, { limitMs: 30_000 })
    await live.agent.start({ instanceUuid: uuid, boot: 2 })
    assert.equal(await told(), 1)
  })

  it('leave out what a gateway reported over a connection that it has replaced by another', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    const meter = new UsageMeter(live.ports, live.agent.entries)
    const gateway = () => new TestGateway(live, 'g').connect()
    gateway()
    live.agent.leases.noteLoads('g', [{ ...idle, requests: 5, inFlight: 5, handledMore: 9 }])
    assert.partialDeepStrictEqual(await meter.loadsOf([uuid]), { loads: { [uuid]: { inFlight: 5 } } })
    gateway()
    const { loads } = await meter.loadsOf([uuid])
    assert.partialDeepStrictEqual(loads[uuid], { inFlight: 0, handledPerSecond: 0 })
    assert.equal((await meter.usageOf([uuid]))[uuid]?.handled, 9)
  })

  it('follow the counts between two reports, and keep the mean of the last report', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    const meter = new UsageMeter(live.ports, live.agent.entries)
    const { leases } = live.agent
    const now = async () => {
      const { connections, requests, queued, handled } = (await meter.usageOf([uuid]))[uuid]!
      return [connections, requests, queued, handled]
    }
    leases.noteCounts('g', [{ instance: uuid, connections: 0, requests: 1, queued: 0, handledMore: 3 }])
    assert.deepEqual(await now(), [0, 1, 0, 3])
    leases.noteLoads('g', [{ ...idle, requests: 2, inFlight: 2 }])
    leases.noteCounts('g', [{ instance: uuid, connections: 1, requests: 0, queued: 2, handledMore: 2 }])
    assert.deepEqual(await now(), [1, 0, 2, 5])
    assert.partialDeepStrictEqual(await meter.loadsOf([uuid]), { loads: { [uuid]: { inFlight: 4 } } })
  })

  it('let other work have its turn while the loads of thousands are read', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    const meter = new UsageMeter(live.ports, live.agent.entries)
    const done: string[] = []
    setImmediate(() => done.push('another'))
    await meter.loadsOf(Array.from({ length: 1_000 }, () => uuid))
    done.push('loads')
    assert.deepEqual(done, ['another', 'loads'])
  })
})

describe('the rate of finished requests', () => {
  let nowMs = 0
  let loads: InstanceLoads
  beforeEach(() => {
    nowMs = 5_000
    loads = new InstanceLoads(() => nowMs)
  })
  const note = (afterMs: number, handledMore: number, gateway = 'g'): void => {
    nowMs += afterMs
    loads.note(gateway, { ...idle, handledMore })
  }

  it('is the rate of the last report, until the next', () => {
    assert.equal(loads.handledPerSecond, 0)
    note(0, 40)
    assert.equal(loads.handledPerSecond, 40)
    note(1_000, 60)
    assert.equal(loads.handledPerSecond, 60)
    note(1_000, 0)
    assert.equal(loads.handledPerSecond, 0)
    assert.equal(loads.handledMore, 100)
  })

  it('covers the time since the last report if that is longer than the usual interval, and never less than that', () => {
    note(0, 40)
    note(2_000, 80)
    assert.equal(loads.handledPerSecond, 40)
    note(100, 40)
    assert.equal(loads.handledPerSecond, 40)
  })

  it('covers the usual interval again after one without finished requests, even if requests were under way', () => {
    note(0, 40)
    nowMs += 1_000
    loads.note('g', { ...idle, requests: 1 })
    note(60_000, 7)
    assert.equal(loads.handledPerSecond, 7)
  })

  it('covers the whole interval, also the requests that counts had reported before', () => {
    note(0, 40)
    loads.noteCounts('g', { ...idle, handledMore: 10 })
    assert.deepEqual([loads.handledPerSecond, loads.handledMore], [40, 50])
    nowMs += 1_000
    loads.note('g', { ...idle, handledMore: 5, handledTold: 10 })
    assert.deepEqual([loads.handledPerSecond, loads.handledMore], [15, 55])
  })

  it('is the sum over the gateways, and one that is lost is not counted any more', () => {
    note(0, 40)
    note(300, 5, 'h')
    assert.equal(loads.handledPerSecond, 45)
    loads.forget('g')
    assert.equal(loads.handledPerSecond, 5)
  })
})

describe('the time of requests in flight', () => {
  let nowMs: number
  let loads: InstanceLoads
  beforeEach(() => {
    nowMs = 0
    loads = new InstanceLoads(() => nowMs)
  })
  const note = (atMs: number, inFlight: number, gateway = 'g'): void => {
    nowMs = atMs
    loads.note(gateway, { ...idle, inFlight })
  }
  const after = (atMs: number): number => {
    nowMs = atMs
    return loads.inFlightMs
  }

  it('is what reports say of the second before them', () => {
    note(1_000, 3)
    note(2_000, 0.5)
    note(3_000, 0)
    assert.equal(after(9_000), 3_500)
  })

  it('goes on while a load does not change, because no report tells that', () => {
    note(1_000, 2)
    assert.deepEqual([after(2_000), after(5_000)], [2_000, 8_000])
    note(6_000, 1)
    assert.equal(loads.inFlightMs, 2_000 + 2 * 4_000 + 1_000)
  })

  it('never falls, also when a gateway is lost, and is the sum over gateways', () => {
    note(1_000, 2)
    note(1_000, 4, 'h')
    assert.equal(after(3_000), 6_000 + 6_000)
    loads.forget('g')
    assert.equal(loads.inFlightMs, 12_000)
    assert.equal(after(4_000), 16_000)
  })
})

import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServiceObserver, systemTimers } from '../../../activities/autoscale/service-observer.ts'
import type { ServiceObserver } from '../../../activities/autoscale/service-observer.ts'
import { readAutoscaleMembers } from '../../../src/db/autoscale/records.ts'
import { listNodes } from '../../../src/db/host/hosts.ts'
import { AdjustmentType, AutoscaleMetric } from '../../../src/domain/autoscale/policy.ts'
import type { AutoscalePolicy } from '../../../src/domain/autoscale/policy.ts'
import type { AutoscaleView, WatchResult } from '../../../src/domain/autoscale/watch.ts'
import { createAgentServer } from '../../../src/host/agent/agent-http.ts'
import { UsageMeter } from '../../../src/host/instance/usage-meter.ts'
import { createNodeClient } from '../../../src/control/host-client.ts'
import type { NodeClient } from '../../../src/control/host-client.ts'
import { Machine, uuid as someUuid } from '../../host/agent/machine.ts'
import type { LiveAgent } from '../../host/agent/machine.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { autoscaleRows } from '../../support/autoscale-rows.ts'
import { until } from '../../support/until.ts'

const agentSecret = 'the-secret-of-the-agent'
const limitMs = 20_000

const policies: readonly AutoscalePolicy[] = [
  {
    name: 'busy',
    metric: AutoscaleMetric.Cpu,
    adjustmentType: AdjustmentType.Change,
    steps: [
      { upperBound: 400, adjustment: 0 },
      { lowerBound: 400, adjustment: 2 },
    ],
  },
  {
    name: 'asked',
    metric: AutoscaleMetric.RequestsPerSecond,
    adjustmentType: AdjustmentType.Exact,
    steps: [{ lowerBound: 100, adjustment: 7 }],
  },
]

describe('the observation of services with PostgreSQL and an agent', () => {
  const rows = autoscaleRows()
  let machine: Machine
  let live: LiveAgent
  let server: Server
  let nodes: NodeClient
  let observer: ServiceObserver
  beforeEach(async () => {
    machine = await Machine.make()
    live = await machine.readyAgent()
    server = await serve(live)
    nodes = createNodeClient({
      nowMs: Date.now,
      listNodes: async () => {
        const known = await listNodes({ database: rows.database(), secretBox: testSecretBox })
        const { port } = server.address() as AddressInfo
        return known.map((node) => ({ ...node, agentUrl: `http://127.0.0.1:${port}`, agentSecret }))
      },
    })
    observer = createServiceObserver({
      readServices: (uuids) => readAutoscaleMembers(rows.database(), uuids),
      readLoads: (nodeId, uuids) => nodes.readLoads(nodeId, uuids),
      nowMs: Date.now,
      timers: systemTimers,
    })
  })
  afterEach(async () => {
    observer.close()
    await nodes.close()
    server.close()
    server.closeAllConnections()
    live.bury()
    await machine.remove()
  })

  /** A service whose master runs at the agent of this test. */
  async function serviceOf() {
    const service = await rows.scaled(await rows.newUser(), { policies })
    const { uuid, name } = service.master
    const spec = machine.specs.get(someUuid)
    assert.ok(spec !== undefined)
    machine.specs.set(uuid, { ...spec, uuid, name })
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    return service
  }

  function watch(serviceUuid: string) {
    const seen: { view?: AutoscaleView; result?: WatchResult } = {}
    const { signal } = new AbortController()
    const onView = (view: AutoscaleView) => (seen.view = view)
    observer.watch({ serviceUuid, target: 1 }, { signal, onView }).then(
      (result) => (seen.result = result),
      () => undefined,
    )
    return seen
  }

  it('sees how busy an instance is, and what is to be done', async () => {
    const service = await serviceOf()
    const boot = { instanceUuid: service.master.uuid, boot: 1 }
    machine.host.setCpu(boot, 250)
    const seen = watch(service.uuid)
    const metrics = await until('it is measured', () => seen.view?.metrics, { limitMs })
    assert.ok(metrics.cpu > 150 && metrics.cpu < 300, `${metrics.cpu} millicores`)
    assert.deepEqual(Object.keys(seen.view?.loads ?? {}), [service.master.name])
    assert.equal(seen.result, undefined)
    machine.host.setCpu(boot, 900)
    const result = await until('it is decided', () => seen.result, { limitMs })
    assert.partialDeepStrictEqual(result, { kind: 'resize', target: 3, decision: { policy: 'busy' } })
  })

  it('sees the load that gateways report', async () => {
    const service = await serviceOf()
    const seen = watch(service.uuid)
    const { uuid: instance } = service.master
    const load = { instance, connections: 0, requests: 3, queued: 0, inFlight: 3, handledMore: 150 }
    live.agent.leases.noteLoads('gateway', [load])
    const result = await until('it is decided', () => seen.result, { limitMs })
    assert.partialDeepStrictEqual(result, {
      kind: 'resize',
      target: 7,
      decision: { policy: 'asked', value: 150 },
    })
  })

  it('says that a service closes whose configuration was deleted', async () => {
    const service = await serviceOf()
    const seen = watch(service.uuid)
    await until('it was looked at', () => seen.view, { limitMs })
    await rows.unconfigure(service)
    const result = await until('it is noticed', () => seen.result, { limitMs })
    assert.deepEqual(result, { kind: 'closing' })
  })

  it('goes on with an agent that was started again', async () => {
    const service = await serviceOf()
    const boot = { instanceUuid: service.master.uuid, boot: 1 }
    const seen = watch(service.uuid)
    await until('it is measured', () => seen.view?.metrics, { limitMs })
    live.kill()
    server.close()
    server.closeAllConnections()
    live = await machine.readyAgent()
    server = await serve(live)
    machine.host.setCpu(boot, 900)
    const result = await until('it is decided', () => seen.result, { limitMs })
    assert.partialDeepStrictEqual(result, { kind: 'resize', target: 3 })
  })
})

async function serve({ agent, ports }: LiveAgent): Promise<Server> {
  const meter = new UsageMeter(ports, agent.entries)
  const server = createAgentServer({
    agentSecret,
    log: ports.log,
    upgrade: (_, socket) => socket.destroy(),
    answers: {
      log: async () => await Promise.reject(new Error('not asked for')),
      history: async () => await Promise.resolve([]),
      serviceHistory: async () => await Promise.resolve([]),
      usage: async (uuids) => await meter.usageOf(uuids),
      loads: async (uuids) => await meter.loadsOf(uuids),
      begin: async () => false,
      check: async () => await Promise.reject(new Error('not asked for')),
      awake: () => ({}),
      hostLease: () => undefined,
      notReady: () => undefined,
      metrics: async () => await Promise.resolve(''),
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

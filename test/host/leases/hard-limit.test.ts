import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { closedShareMs } from '../../../src/domain/standby/lease-protocol.ts'
import { trafficSecretOf } from '../../../src/host/leases/lease-server.ts'
import type { LeaseServer } from '../../../src/host/leases/lease-server.ts'
import type { Admission } from '../../../src/gateway/traffic.ts'
import { BalanceScene } from '../../support/balance-scene.ts'
import { uuid } from '../agent/machine.ts'
import { agentSecret, serveLeases } from './agent-server.ts'
import { seen } from './gateway.ts'
import { cold, StandbyScene } from './standby-scene.ts'

/** Real gateways and a real agent, over real connections. The VM is a fake, because nothing is sent to it. */
describe('the hard limit over several gateways', function () {
  this.timeout(60_000)
  let scene: StandbyScene
  let server: Server
  let leaseServer: LeaseServer
  const gateways: BalanceScene[] = []

  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.running(cold)
    ;({ server, leaseServer } = await serveLeases(scene))
  })
  afterEach(async () => {
    for (const { balancer } of gateways.splice(0)) balancer.close()
    leaseServer.close()
    server.close()
    await scene.remove()
  })

  async function gatewayWith(limits: { softLimit: number; hardLimit: number }): Promise<BalanceScene> {
    const { port } = server.address() as AddressInfo
    const node = {
      id: 'node-1',
      agentUrl: `http://127.0.0.1:${port}`,
      trafficSecret: trafficSecretOf(agentSecret),
    }
    const gateway = new BalanceScene({ node }, limits, {})
    gateways.push(gateway)
    gateway.tell([[uuid, 'running']])
    await seen('the gateway is connected', () => gateway.balancer.hosts.connected === 1)
    return gateway
  }

  /** The instance listens on 80 in these tests. */
  const admit = async (gateway: BalanceScene) => await gateway.admit()
  const admitted = async (gateway: BalanceScene): Promise<Admission> => await gateway.admission()

  it('is one limit: what one gateway uses, the other can not', async () => {
    const [one, other] = [await gatewayWith({ softLimit: 3, hardLimit: 3 }), await gatewayWith({ softLimit: 3, hardLimit: 3 })] // prettier-ignore
    const first = [await admitted(one), await admitted(one)]
    const last = await admitted(other)
    for (const gateway of [one, other]) {
      const refused = await admit(gateway)
      assert(!refused.admitted && refused.reason === 'hard-limit')
    }
    last.done()
    await delay(25)
    first.push(await admitted(one))
    const refused = await admit(other)
    assert(!refused.admitted && refused.reason === 'hard-limit')
    for (const each of first) each.done()
    await delay(25)
    for (let count = 0; count < 3; count++) await admitted(other)
  })

  it('is used to the last place, and never above, by three gateways with random traffic', async () => {
    const hardLimit = 4
    const all = [
      await gatewayWith({ softLimit: 2, hardLimit }),
      await gatewayWith({ softLimit: 2, hardLimit }),
      await gatewayWith({ softLimit: 2, hardLimit }),
    ]
    let inFlight = 0
    let most = 0
    let served = 0
    const client = async (index: number): Promise<void> => {
      for (let round = 0; round < 150; round++) {
        const gateway = all[(index + round * 7) % all.length]
        assert(gateway !== undefined)
        const outcome = await admit(gateway)
        if (!outcome.admitted) {
          await delay(1)
          continue
        }
        inFlight += 1
        served += 1
        most = Math.max(most, inFlight)
        assert(inFlight <= hardLimit, `${inFlight} in flight`)
        for (let turns = (index * 31 + round * 17) % 23; turns > 0; turns--) await turn()
        inFlight -= 1
        outcome.done()
      }
    }
    await Promise.all(Array.from({ length: 12 }, async (_, index) => await client(index)))
    assert.equal(most, hardLimit)
    assert(served > 300, `${served} of 1800 were served`)
  })

  it('is free again soon after a gateway that used it has ended', async () => {
    const limits = { softLimit: 2, hardLimit: 2 }
    const [one, other] = [await gatewayWith(limits), await gatewayWith(limits)]
    await admitted(one)
    await admitted(one)
    one.balancer.close()
    await seen('the gateway is lost', () => scene.live.agent.leases.gateways === 1)
    const waiting = [admitted(other), admitted(other)]
    await delay(25)
    scene.machine.nowMs += closedShareMs
    scene.live.agent.leases.tick()
    await Promise.all(waiting)
    const refused = await admit(other)
    assert(!refused.admitted && refused.reason === 'hard-limit')
  })
})

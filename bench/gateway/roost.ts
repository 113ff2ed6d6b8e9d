import path from 'node:path'
import process from 'node:process'
import { beatIntervalMs } from '../../src/domain/standby/lease-protocol.ts'
import { FakeLeaseServer } from '../../test/support/fake-lease-server.ts'
import { applicationPorts, publishedBodies, publishedTcp } from './gateway-process.ts'
import type { GatewayTask } from './gateway-process.ts'
import { startProxy } from './proxy.ts'
import type { Proxy, ProxyPlan } from './proxy.ts'

const portOffset = 18_200
const program = path.join(import.meta.dirname, 'gateway-process.ts')

/** Starts the whole gateway in a process of its own. The host that grants its leases is in this process. */
export async function startRoost(plan: ProxyPlan, nodeArguments: readonly string[] = []): Promise<Proxy> {
  const host = await FakeLeaseServer.start()
  const at = (port: number) => ({ host: '127.0.0.1', port })
  const reach = {
    [applicationPorts.http]: at(plan.upstream.http),
    [applicationPorts.tcp]: at(plan.upstream.tcp),
    [applicationPorts.bodies]: at(plan.upstream.bodies),
  }
  host.answer = () => ({ reach })
  const beats = setInterval(() => host.say({ kind: 'beat' }), beatIntervalMs)
  const end = (): void => {
    clearInterval(beats)
    host.close()
  }
  const task: GatewayTask = { node: host.node, portOffset, certificate: plan.certificate }
  const ports = {
    http: 80 + portOffset,
    https: 443 + portOffset,
    tcp: publishedTcp + portOffset,
    bodies: publishedBodies + portOffset,
  }
  const command = [process.execPath, ...nodeArguments, program, JSON.stringify(task)]
  try {
    const proxy = await startProxy({ name: 'Roost', command, ports, env: {} })
    return {
      ...proxy,
      stop: async () => {
        await proxy.stop()
        end()
      },
    }
  } catch (error) {
    end()
    throw error
  }
}

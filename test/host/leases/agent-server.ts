import { once } from 'node:events'
import type { Server } from 'node:http'
import { createAgentServer } from '../../../src/host/agent/agent-http.ts'
import { LeaseServer } from '../../../src/host/leases/lease-server.ts'
import type { StandbyScene } from './standby-scene.ts'

export const agentSecret = 'the-secret'

/** Starts the server of an agent on a free port of loopback. Of its answers only the leases are real. */
export async function serveLeases(
  scene: StandbyScene,
): Promise<{ readonly server: Server; readonly leaseServer: LeaseServer }> {
  const { leases } = scene.live.agent
  const { log } = scene.live.ports
  const nowMs = (): number => scene.machine.nowMs
  const leaseServer = new LeaseServer({ agentSecret, nodeId: 'node-1', leases, log, nowMs })
  const server = createAgentServer({
    agentSecret,
    log,
    upgrade: (...given) => {
      leaseServer.receive(...given)
    },
    answers: {
      log: async () => await Promise.reject(new Error('not asked for')),
      history: async () => await Promise.resolve([]),
      serviceHistory: async () => await Promise.resolve([]),
      usage: async () => await Promise.resolve({}),
      loads: async () => await Promise.resolve({ atMs: 0, loads: {} }),
      begin: async () => await Promise.resolve(false),
      check: async () => await Promise.reject(new Error('not asked for')),
      awake: () => ({}),
      hostLease: () => undefined,
      notReady: () => undefined,
      metrics: async () => await Promise.resolve(''),
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, leaseServer }
}

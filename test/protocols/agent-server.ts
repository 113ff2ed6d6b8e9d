import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAgentServer } from '../../src/host/agent/agent-http.ts'
import type { AgentAnswers } from '../../src/host/agent/agent-http.ts'
import type { HostLeases } from '../../src/host/leases/host-leases.ts'
import { LeaseServer, trafficSecretOf } from '../../src/host/leases/lease-server.ts'

const secret = 'the-secret-of-the-agent'
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** The HTTP server of an agent with its server of leases. It has no instances. */
export interface AgentServer {
  readonly url: string
  readonly secret: string
  readonly trafficSecret: string
  close(): void
}

export async function startAgent(answers: AgentAnswers): Promise<AgentServer> {
  const leases = { connect: ignore, disconnect: ignore } as unknown as HostLeases
  const leaseServer = new LeaseServer({ agentSecret: secret, nodeId: 'h1', leases, log, nowMs: Date.now })
  const upgrade: typeof leaseServer.receive = (...given) => leaseServer.receive(...given)
  const server = createAgentServer({ agentSecret: secret, answers, log, upgrade })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret,
    trafficSecret: trafficSecretOf(secret),
    close() {
      leaseServer.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Answers that tell `hear` what was asked, as the agent has understood it. */
export function answersOf(hear: (what: unknown) => void): AgentAnswers {
  const hearInstances = (instances: readonly string[]): void => hear({ instances })
  return {
    log: async () => await Promise.reject(new Error('not asked for')),
    history: async () => await Promise.resolve([]),
    serviceHistory: async () => await Promise.resolve([]),
    async usage(instances) {
      hearInstances(instances)
      return await Promise.resolve({})
    },
    async loads(instances) {
      hearInstances(instances)
      return await Promise.resolve({ atMs: 0, loads: {} })
    },
    awake(instances) {
      hearInstances(instances)
      return {}
    },
    begin: async () => await Promise.resolve(false),
    async check(_uuid, check) {
      hear(check)
      return await Promise.resolve({ ok: true as const })
    },
    hostLease: () => undefined,
    notReady: () => undefined,
    metrics: async () => await Promise.resolve(''),
  }
}

function ignore(): void {
  // Nothing of it is looked at.
}

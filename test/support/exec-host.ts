import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeClient } from '../../src/control/host-client.ts'
import { listNodes } from '../../src/db/host/hosts.ts'
import { ExecServer } from '../../src/host/exec/exec-server.ts'
import type { LeasesForHolds } from '../../src/host/leases/instance-hold.ts'
import type {
  ExecRefused,
  ExecRequest,
  ExecSession,
  ProgramRequest,
} from '../../src/host/exec/exec-session.ts'
import { FakePrograms } from '../../src/host/fakes/fake-exec.ts'
import { testSecretBox } from './accounts.ts'
import type { TestApi } from './api-server.ts'

/** The part of a host that runs programs: fake programs behind a real agent's server. */
export interface ExecHost {
  /** What is to happen instead of the next program. */
  refusal?: ExecRefused
  /** What was asked for, and which of it were programs. */
  readonly requests: ExecRequest[]
  readonly programs: readonly ProgramRequest[]
  /** What was copied into the instances, by its path. */
  readonly archives: Map<string, Buffer>
  /** The number of holds that keep instances awake. */
  readonly holds: () => number
  /** The instance ends. */
  lose(): void
  close(): Promise<void>
}

const agentSecret = 'the-secret'
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Leases of a host whose instances all run. */
function runningLeases(held: Set<string>): LeasesForHolds {
  return {
    connect: () => undefined,
    leave: (line) => void held.delete(line.gatewayId),
    noteReported: () => undefined,
    hear: (line, instance, event) => {
      if (event.kind !== 'open') return
      held.add(line.gatewayId)
      const { epoch } = event
      const lease = { boot: 1, memoryBoot: 1, reach: {}, quietConnectionsSleep: false }
      line.send({ kind: 'opened', instance, epoch, ...lease })
    },
  }
}

export async function startExecHost(api: TestApi): Promise<ExecHost> {
  const held = new Set<string>()
  const programs = new FakePrograms()
  const host: ExecHost = {
    requests: [],
    get programs() {
      return host.requests.filter(
        (each): each is ProgramRequest => each.type === undefined || each.type === 'run',
      )
    },
    archives: programs.archives,
    holds: () => held.size,
    lose: () => programs.lose(),
    async close() {
      await client.close()
      exec.close()
      server.closeAllConnections()
      server.close()
    },
  }
  const run = async (_: unknown, request: ExecRequest): Promise<ExecSession> => {
    const { refusal } = host
    if (refusal !== undefined) throw refusal
    host.requests.push(request)
    return await Promise.resolve(programs.run(request))
  }
  const exec = new ExecServer({ agentSecret, leases: runningLeases(held), vmm: { exec: run }, log: silent })
  const server = createServer().on('upgrade', (request, socket, head) => exec.receive(request, socket, head))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agentUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [known] = await listNodes({ database: api.database, secretBox: testSecretBox })
  const client = createNodeClient({
    listNodes: async () => await Promise.resolve([{ ...known!, agentUrl, agentSecret }]),
    nowMs: Date.now,
  })
  api.nodes.openExec = async (instance) => await client.openExec(instance)
  return host
}

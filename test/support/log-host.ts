import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNodeClient } from '../../src/control/host-client.ts'
import type { NodeClient } from '../../src/control/host-client.ts'
import { listNodes } from '../../src/db/host/hosts.ts'
import { createAgentServer } from '../../src/host/agent/agent-http.ts'
import { ConsoleWaits } from '../../src/host/console/console-waits.ts'
import type { LogRequest } from '../../src/host/console/console-waits.ts'
import { ConsoleWriter } from '../../src/host/console/console-writer.ts'
import { testSecretBox } from './accounts.ts'
import type { TestApi } from './api-server.ts'

/** The part of a host that keeps logs: real files behind a real agent's server, from which the API reads. */
export interface LogHost {
  /** The API's client of this host. */
  readonly client: NodeClient
  /** The directory that has a directory for each instance. */
  readonly root: string
  /** What the host was asked for. */
  readonly asked: LogRequest[]
  /** Writes as the instance's console does. */
  print(uuid: string, text: string): Promise<void>
  close(): Promise<void>
}

const agentSecret = 'the-secret'
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

export async function startLogHost(api: TestApi): Promise<LogHost> {
  const root = await mkdtemp(join(tmpdir(), 'roost-followed-'))
  const waits = new ConsoleWaits()
  const asked: LogRequest[] = []
  const no = () => assert.fail('a log is read, and nothing else is asked of the host')
  const host = createAgentServer({
    agentSecret,
    log: silent,
    upgrade: no,
    answers: {
      log: async (instance, request) => {
        asked.push(request)
        return await waits.read(join(root, instance), request)
      },
      history: no,
      serviceHistory: no,
      usage: no,
      loads: no,
      awake: no,
      begin: no,
      check: no,
      hostLease: no,
      notReady: no,
      metrics: no,
    },
  })
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const agentUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  const [known] = await listNodes({ database: api.database, secretBox: testSecretBox })
  const client = createNodeClient({
    listNodes: async () => [{ ...known!, agentUrl, agentSecret }],
    nowMs: Date.now,
  })
  api.nodes.readLog = (...request) => client.readLog(...request)
  return {
    client,
    root,
    asked,
    print: (uuid, text) => new ConsoleWriter(join(root, uuid)).append(Buffer.from(text)),
    async close() {
      await client.close()
      host.closeAllConnections()
      host.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

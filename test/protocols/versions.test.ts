import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { otherVersion, protocolHeader, versionRefusal, wires } from '../../src/domain/protocols.ts'
import type { Protocol } from '../../src/domain/protocols.ts'
import { trafficUpgrade } from '../../src/domain/standby/lease-protocol.ts'
import { testAgentSecret } from '../support/accounts.ts'
import { testGatewayToken } from '../support/api-server.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { startRelayServer } from '../support/relay-server.ts'
import type { RelayServer } from '../support/relay-server.ts'
import { exchange, requestText, startRemoteApi } from '../support/remote-api.ts'
import type { RemoteApi } from '../support/remote-api.ts'
import { answersOf, startAgent } from './agent-server.ts'
import type { AgentServer } from './agent-server.ts'

type Told = Readonly<Record<string, string>>

/** What a door answers to a caller that tells this version. `why` is for people. */
interface Answer {
  readonly status: number
  readonly why: string
}

const joinToken = 'the-join-token-of-the-tests'
const own = { agentUrl: 'http://127.0.0.1:7171', accelerator: 'tcg', memoryMb: 4_096, version: '0.1.0' }
const nothing = (): void => undefined
/** A client of gRPC tries again after this status. */
const unavailable = 14

describe('versions of a wire', () => {
  let remote: RemoteApi
  let agent: AgentServer
  let relay: RelayServer
  before(async () => {
    remote = await startRemoteApi()
    agent = await startAgent(answersOf(nothing))
    // Nobody listens there: the relay says so to callers that it understands.
    const temporal = { address: '127.0.0.1:1', namespace: 'default' }
    relay = await startRelayServer('h1', { temporal, tokenKey: Buffer.alloc(32, 7) })
  })
  after(async () => {
    agent.close()
    await relay.close()
    await remote.close()
  })

  /** The head of the answer is enough: a feed does not end. */
  async function ask(url: string, method: string, headers: Told, body?: object): Promise<Answer> {
    const asked = request(url, { method, headers: { ...headers, 'content-type': 'application/json' } })
    asked.on('error', nothing).end(body && JSON.stringify(body))
    const answer = await new Promise<IncomingMessage | undefined>((resolve, reject) => {
      asked.once('error', reject)
      asked.once('response', resolve)
      asked.once('upgrade', (_answer, socket) => {
        socket.destroy()
        resolve(undefined)
      })
    })
    if (answer === undefined) return { status: 101, why: '' }
    const { statusCode: status = 0 } = answer
    const chunks = status === 200 ? [] : await answer.setEncoding('utf8').toArray()
    asked.destroy()
    return { status, why: chunks.join('') }
  }
  const askApi = async (path: string, token: string, told: Told): Promise<Answer> =>
    await ask(`${remote.api.url}${path}`, 'GET', { authorization: `Bearer ${token}`, ...told })

  interface Door {
    readonly wire: Protocol
    /** Who has to be upgraded if the caller is too new. */
    readonly own: string
    /** What the caller gets if it is understood. Most of these calls ask for nothing that there is. */
    readonly status: number
    readonly knock: (told: Told) => Promise<Answer>
  }

  const doors: Readonly<Record<string, Door>> = {
    'a heartbeat': {
      wire: wires.hostCalls,
      own: 'the API',
      status: 200,
      async knock(told) {
        const headers = { authorization: `Bearer ${joinToken}`, ...told }
        const body = { ...own, agentSecret: testAgentSecret('local') }
        return await ask(`${remote.api.url}/internal/nodes/local`, 'PUT', headers, body)
      },
    },
    'a question for the instances of a host': {
      wire: wires.hostCalls,
      own: 'the API',
      status: 200,
      knock: async (told) => await askApi('/internal/nodes/local/instances', testAgentSecret('local'), told),
    },
    'the feed of names': {
      wire: wires.names,
      own: 'the API',
      status: 200,
      knock: async (told) => await askApi('/internal/nodes/local/names', testAgentSecret('local'), told),
    },
    'the feed of routes': {
      wire: wires.routes,
      own: 'the API',
      status: 200,
      knock: async (told) => await askApi('/internal/gateway/routes', testGatewayToken, told),
    },
    'a join': {
      wire: wires.join,
      own: 'the control plane',
      status: 400,
      async knock(told) {
        const headers = Object.entries(told).map(([name, value]) => `${name}: ${value}`)
        const socket = await remote.connect()
        const text = await exchange(socket, requestText('POST /join', { headers, body: '{}' }))
        return { status: Number(text.split(' ')[1]), why: text }
      },
    },
    'a gateway that wants leases': {
      wire: wires.leases,
      own: "the agent of host 'h1'",
      status: 101,
      async knock(told) {
        const authorization = `Bearer ${agent.trafficSecret}`
        const upgrade = { connection: 'Upgrade', upgrade: trafficUpgrade }
        return await ask(`${agent.url}/traffic`, 'GET', { authorization, ...upgrade, ...told })
      },
    },
    'a call of the API to a host': {
      wire: wires.agentCalls,
      own: 'the agent of the host',
      status: 200,
      async knock(told) {
        const headers = { authorization: `Bearer ${agent.secret}`, ...told }
        return await ask(`${agent.url}/loads`, 'POST', headers, { instances: [] })
      },
    },
  }

  for (const [what, door] of Object.entries(doors)) {
    const { version } = door.wire
    const told = (value: number | string): Told => ({ [protocolHeader]: String(value) })

    for (const near of [version - 1, version, version + 1]) {
      it(`${what} is understood if it tells version ${near}`, async () => {
        const { status, why } = await door.knock(told(near))
        assert.equal(status, door.status, why)
      })
    }

    it(`${what} is understood as of version 1 if it tells none`, async () => {
      const { status, why } = await door.knock({})
      assert.equal(status, door.status, why)
    })

    it(`${what} is refused if it tells version ${version + 2}, with both versions and what to upgrade`, async () => {
      const { status, why } = await door.knock(told(version + 2))
      assert.equal(status, otherVersion)
      const sentence = new RegExp(
        `speaks version ${version + 2} of ${door.wire.what}, and ${door.own} speaks version ${version}, .*: upgrade ${door.own}"`,
      )
      assert.match(why, sentence)
    })

    it(`${what} is refused if it tells no number`, async () => {
      assert.equal((await door.knock(told('one'))).status, otherVersion)
    })
  }

  it('a call through the relay of a version too new is refused, and the host tries again', async () => {
    const call = async (told: Told) => {
      const host = new GrpcClient(relay.address)
      return await host.call('GetSystemInfo', {}, { headers: told }).finally(() => host.close())
    }
    const { version, what } = wires.relay
    const understood = await call({ [protocolHeader]: String(version + 1) })
    assert.doesNotMatch(understood.text, /speaks version/)
    const { status, text } = await call({ [protocolHeader]: String(version + 2) })
    assert.equal(status, unavailable)
    const sentence = `^host 'h1' speaks version ${version + 2} of ${what}, .*: upgrade the relay of the API$`
    assert.match(text, new RegExp(sentence))
    assert.ok(
      relay.logged.some((line) => line.includes(text)),
      'its administrator reads it too',
    )
  })
})

describe('a refusal of a version', () => {
  const who = { peer: "host 'h2'", own: 'the API' }
  const wire = { version: 5, what: 'the calls of hosts to the API' }

  it('names the older side as the one to upgrade', () => {
    assert.equal(
      versionRefusal(wire, '3', who),
      "host 'h2' speaks version 3 of the calls of hosts to the API, and the API speaks version 5, " +
        "which understands one more and one less: upgrade host 'h2'",
    )
    assert.match(versionRefusal(wire, '7', who)!, /: upgrade the API$/)
    assert.match(
      versionRefusal(wire, undefined, who)!,
      /^host 'h2' speaks version 1 of .*: upgrade host 'h2'$/,
    )
  })

  it('is not given to a version next to its own', () => {
    for (const told of ['4', '5', '6']) assert.equal(versionRefusal(wire, told, who), undefined)
  })

  it('says what is wrong with a header that is no number, and repeats little of it', () => {
    assert.match(
      versionRefusal(wire, 'x'.repeat(1_000), who)!,
      /^the header 'roost-protocol' must be .{0,80}$/,
    )
  })
})

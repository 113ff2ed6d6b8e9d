import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { maxBodyBytes } from '../../../src/contract/limits.ts'
import { createNodeClient, NodeUnavailable } from '../../../src/control/host-client.ts'
import { findNode, listNodes } from '../../../src/db/host/hosts.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import type { NodeRecord } from '../../../src/db/host/hosts.ts'
import { json } from '../../../src/db/postgres-client.ts'
import type { InstanceMove } from '../../../src/domain/instance/projection.ts'
import { addNode, testAgentSecret, testSecretBox } from '../../support/accounts.ts'
import { fakeDigest, startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

const joinToken = 'the-join-token-of-the-tests'
/** A heartbeat of the host `second`. */
const heartbeat = {
  agentUrl: 'http://127.0.0.1:7171',
  agentSecret: testAgentSecret('second'),
  accelerator: 'tcg',
  memoryMb: 4_096,
  version: '0.1.0',
}

describe('the API for hosts', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
  })
  after(() => api.close())

  const ask = (method: string, path: string, { credential, body }: { credential: string; body?: unknown }) =>
    api.send({
      method,
      path: `/internal/nodes/${path}`,
      headers: { authorization: `Bearer ${credential}` },
      ...(body === undefined ? {} : { body }),
    })
  const beat = (id: string, body: unknown) => ask('PUT', id, { credential: joinToken, body })
  const asNode = (method: string, path: string, body?: unknown) =>
    ask(method, path, { credential: testAgentSecret(path.split('/')[0]!), body })
  const addressOf = async (id: string) =>
    (await findNode({ database: api.database, secretBox: testSecretBox }, id))?.agentUrl

  it('lets only agents in that have the join token', async () => {
    for (const credential of ['', 'nonsense', user.token, testAgentSecret('local')]) {
      assert.equal((await ask('PUT', 'stranger', { credential, body: heartbeat })).status, 401)
    }
    assert.equal(await addressOf('stranger'), undefined)
    assert.equal((await api.send({ path: '/v1/instances', token: joinToken })).status, 401)
  })

  it('keeps an id for the agent that joined first, also against others that have the join token', async () => {
    const before = await addressOf('local')
    const taken = await beat('local', { ...heartbeat, agentUrl: 'http://127.0.0.1:6666' })
    assert.equal(taken.status, 403)
    assert.match(
      taken.json.message,
      /^another host has the id 'local': .*ROOST_NODE_ID.* `roost admin node release local`$/,
    )
    assert.equal(await addressOf('local'), before)
    const agentSecret = testAgentSecret('local')
    const own = await beat('local', { ...heartbeat, agentSecret, agentUrl: 'http://127.0.0.1:7777' })
    assert.equal(own.status, 200)
    assert.equal(await addressOf('local'), 'http://127.0.0.1:7777')
    assert.ok(!api.logLines.join('').includes(agentSecret))
  })

  it('assigns a network at the first heartbeat, and keeps it', async () => {
    const first = await beat('second', heartbeat)
    assert.equal(first.status, 200, first.text)
    assert.equal(first.json.nodeId, 'second')
    assert.match(first.json.subnet, /^10\.\d+\.\d+\.0\/20$/)
    assert.deepEqual((await beat('second', heartbeat)).json, first.json)
    // Instances of the tests below are placed on the other host.
    await setUse(api.database, 'second', HostUse.Cordoned)
  })

  it('refuses a heartbeat that is malformed', async () => {
    for (const body of [
      {},
      { ...heartbeat, agentSecret: 'x' },
      { ...heartbeat, agentSecret: 'words that no header takes' },
      { ...heartbeat, agentUrl: 'file:///' },
      { ...heartbeat, cpus: 0 },
      { ...heartbeat, cpus: 1.5 },
      { ...heartbeat, imageBytes: { somebody: 1 } },
      { ...heartbeat, imageBytes: { [user.uuid]: -1 } },
    ]) {
      assert.equal((await beat('second', body)).status, 400)
    }
    assert.equal((await beat('x'.repeat(65), heartbeat)).status, 400)
  })

  it('takes the endpoint of a host in the mesh in one form, and none that the others can not reach', async () => {
    const endpointAfter = async (endpoint: string) => {
      const mesh = { publicKey: Buffer.alloc(32, 7).toString('base64'), endpoint }
      const answer = await beat('second', { ...heartbeat, mesh })
      return answer.status === 200 ? answer.json.mesh.machines[0].endpoint : answer.text
    }
    assert.equal(await endpointAfter('[2001:0db8:0::7]:51820'), '[2001:db8::7]:51820')
    const unreachable = [
      '10.64.0.1:51820',
      '[::ffff:10.64.0.1]:51820',
      '[::ffff:a40:1]:51820',
      '192.0.2.7',
      '192.0.2.7:0',
      '2001:db8::7',
      'fe80:51820',
    ]
    for (const endpoint of unreachable)
      assert.match(
        await endpointAfter(endpoint),
        /an IP address outside 10\.64\.0\.0\/10 and a port/,
        endpoint,
      )
    assert.equal((await beat('second', heartbeat)).status, 200)
  })

  it('hears an agent of a later version, which tells more than this API knows', async () => {
    const mesh = {
      publicKey: Buffer.alloc(32, 6).toString('base64'),
      endpoint: '192.0.2.6:51820',
      relays: [1],
    }
    const later = { ...heartbeat, version: '9.0.0', more: { words: 'a\u0000b' }, mesh }
    const answer = await beat('second', later)
    assert.equal(answer.status, 200, answer.text)
    const tooLarge = await beat('second', { ...heartbeat, more: 'x'.repeat(maxBodyBytes) })
    assert.equal(tooLarge.status, 413)
    assert.equal((await beat('second', { ...later, mesh: { ...mesh, publicKey: 1 } })).status, 400)
  })

  it('gives a launch, with the environment in clear, only to the host of the instance', async () => {
    const { uuid } = await user.api.one('createInstances', {
      body: { image: 'hello', name: 'mine', env: { A: 'é\n' }, args: ['x'] },
    })
    const launch = await asNode('GET', `local/instances/${uuid}/launch`)
    assert.equal(launch.headers['cache-control'], 'no-store')
    assert.partialDeepStrictEqual(launch.json, {
      uuid,
      name: 'mine',
      userUuid: user.uuid,
      image: `official/hello@${fakeDigest}`,
      args: ['x'],
      env: { A: 'é\n' },
    })
    for (const path of [`second/instances/${uuid}/launch`, 'local/instances/nonsense/launch']) {
      assert.equal((await asNode('GET', path)).status, 404)
    }
    const own = await asNode('GET', 'local/instances')
    assert.ok(own.json.instances.some((each: { uuid: string }) => each.uuid === uuid))
    assert.deepEqual((await asNode('GET', 'second/instances')).json, { instances: [], arriving: [] })
  })

  it('tells a host which instances of other hosts are moving there, and no more of them', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { image: 'hello' } })
    const place = (nodeId: string) => ({ nodeId, address: '' })
    const tell = async (move: InstanceMove) => {
      const instances = api.database.db.updateTable('instances').where('uuid', '=', uuid)
      await instances.set({ move: json(move) }).execute()
    }
    const moving = { from: place('local'), to: place('second'), sinceMs: 1 }
    await tell({ ...moving, step: 'fetch' })
    assert.deepEqual((await asNode('GET', 'second/instances')).json, { instances: [], arriving: [uuid] })
    const own = await asNode('GET', 'local/instances')
    assert.ok(own.json.instances.some((each: { uuid: string }) => each.uuid === uuid))
    assert.deepEqual(own.json.arriving, [])
    await tell({ ...moving, failure: 'its new host could not fetch it' })
    assert.deepEqual((await asNode('GET', 'second/instances')).json, { instances: [], arriving: [] })
  })

  it('tells a host whether the row of a volume names it, another host, or is not there', async () => {
    await api.database.db.updateTable('nodes').set({ volumeMb: 8 }).where('id', '=', 'local').execute()
    const { uuid } = await user.api.one('createVolumes', { body: { name: 'where', size_mb: 8 } })
    const placeSeenBy = async (node: string, volume = uuid) =>
      (await asNode('GET', `${node}/volumes/${volume}`)).json
    assert.deepEqual(await placeSeenBy('local'), { place: 'here' })
    assert.deepEqual(await placeSeenBy('second'), { place: 'elsewhere' })
    assert.deepEqual(await placeSeenBy('local', randomUUID()), { place: 'nowhere' })
    assert.equal((await asNode('GET', 'local/volumes/nonsense')).status, 404)
  })

  it('answers about the instances of a host only to the agent of that host', async () => {
    const { uuid } = await user.api.one('createInstances', {
      body: { image: 'hello', env: { KEY: 'hidden' } },
    })
    const questions = [
      ['GET', `local/instances/${uuid}/launch`],
      ['GET', 'local/instances'],
      ['GET', `local/volumes/${uuid}`],
      ['POST', 'local/registry-token', { repository: 'official/hello' }],
    ] as const
    for (const [method, path, body] of questions) {
      for (const credential of ['', 'x', joinToken, testAgentSecret('second'), user.token]) {
        const answer = await ask(method, path, { credential, body })
        assert.equal(answer.status, 401)
        assert.ok(!answer.text.includes('hidden'))
      }
      assert.equal((await asNode(method, path, body)).status, 200)
    }
    assert.equal((await asNode('GET', 'nobody/instances')).status, 401)
  })

  it('gives tokens only for repositories of which the host runs an image', async () => {
    const pull = (node: string, repository: string) =>
      asNode('POST', `${node}/registry-token`, { repository })
    assert.deepEqual((await pull('local', 'official/hello')).json, { token: 'token for official/hello' })
    assert.equal((await pull('local', 'official/hell')).status, 404)
    assert.equal((await pull('second', 'official/hello')).status, 404)
  })
})

describe('the API as a client of hosts', () => {
  let api: TestApi
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())

  /**
   * A host that answers calls with `answer`, and a client that finds it in the database. `told` changes what
   * the client reads there.
   */
  async function hostThat(
    answer: RequestListener,
    told: () => Partial<NodeRecord> = () => ({}),
    nowMs: () => number = Date.now,
  ) {
    const server = createServer(answer)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const agentUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await addNode(api.database)
    const nodes = createNodeClient({
      nowMs,
      listNodes: async () => {
        const [known] = await listNodes({ database: api.database, secretBox: testSecretBox })
        return [{ ...known!, agentUrl, ...told() }]
      },
    })
    const goAway = () => {
      server.close()
      server.closeAllConnections()
    }
    return { nodes, goAway }
  }

  it('asks with the secret of the host, and again with the new one after the agent was started anew', async () => {
    let secret = 'a secret'
    const asked: string[] = []
    const answer: RequestListener = (request, response) => {
      asked.push(`${request.method} ${request.url}`)
      const known = request.headers.authorization === `Bearer ${secret}`
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ usage: { a: 1 } }))
    }
    const { nodes, goAway } = await hostThat(answer, () => ({ agentSecret: secret }))
    assert.deepEqual(await nodes.readUsage('local', ['a']), { a: 1 })
    secret = 'another secret'
    assert.deepEqual(await nodes.readUsage('local', ['a']), { a: 1 })
    assert.deepEqual(asked, ['POST /usage', 'POST /usage', 'POST /usage'])
    await assert.rejects(nodes.readUsage('nowhere', ['a']), NodeUnavailable)
    goAway()
    await assert.rejects(nodes.readUsage('local', ['a']), NodeUnavailable)
    await nodes.close()
  })

  it('asks a host to begin a first boot once, whatever it answers', async () => {
    const asked: string[] = []
    let status = 200
    const { nodes, goAway } = await hostThat((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(status).end(JSON.stringify({ up: true }))
    })
    const instance = { uuid: 'x', nodeId: 'local' }
    assert.equal(await nodes.beginFirstBoot(instance), true)
    status = 401
    await assert.rejects(nodes.beginFirstBoot(instance), NodeUnavailable)
    assert.deepEqual(asked, ['POST /instances/x/begin', 'POST /instances/x/begin'])
    goAway()
    await assert.rejects(nodes.beginFirstBoot(instance), NodeUnavailable)
    await nodes.close()
  })

  it('has a host check an instance, and waits for as long as the host may take', async () => {
    const asked: unknown[] = []
    let status = 200
    const { nodes, goAway } = await hostThat((request, response) => {
      request.on('data', (body) => asked.push([`${request.method} ${request.url}`, JSON.parse(String(body))]))
      // Longer than the limit of any other call.
      const takesMs = status === 200 ? 3_300 : 0
      setTimeout(() => response.writeHead(status).end('{"ok":false,"why":"as asked"}'), takesMs)
    })
    const instance = { uuid: 'x', nodeId: 'local' }
    const check = { port: 8080, path: '/health', timeoutMs: 500 }
    assert.deepEqual(await nodes.checkInstance(instance, check), { ok: false, why: 'as asked' })
    assert.deepEqual(asked, [['POST /instances/x/check', check]])
    status = 503
    await assert.rejects(nodes.checkInstance(instance, check), NodeUnavailable)
    goAway()
    await assert.rejects(nodes.checkInstance(instance, check), NodeUnavailable)
    await nodes.close()
  })

  it('begins a first boot at an old address without reading it again, unless the host has moved', async () => {
    let nowMs = 0
    let read = 0
    let secret = 'a secret'
    const answer: RequestListener = (request, response) => {
      const known = request.headers.authorization === `Bearer ${secret}`
      response.writeHead(known ? 200 : 401).end(JSON.stringify({ up: true }))
    }
    const told = () => {
      read++
      return { agentSecret: secret }
    }
    const { nodes, goAway } = await hostThat(answer, told, () => nowMs)
    const instance = { uuid: 'x', nodeId: 'local' }
    for (nowMs of [0, 60_000, 3_600_000]) assert.equal(await nodes.beginFirstBoot(instance), true)
    assert.equal(read, 1)
    secret = 'another secret'
    await assert.rejects(nodes.beginFirstBoot(instance), NodeUnavailable)
    assert.equal(await nodes.beginFirstBoot(instance), true)
    assert.equal(read, 2)
    await nodes.close()
    goAway()
  })

  it('reads a lease, also of a host whose heartbeats have stopped, and none of an unknown instance', async () => {
    const lease = { phase: 'asleep', boot: 3 }
    const asked: string[] = []
    const { nodes, goAway } = await hostThat(
      (request, response) => {
        asked.push(`${request.method} ${request.url}`)
        if (request.url === '/instances/x/host-lease') response.end(JSON.stringify(lease))
        else response.writeHead(404).end()
      },
      () => ({ live: false }),
    )
    assert.deepEqual(await nodes.readLease({ uuid: 'x', nodeId: 'local' }), lease)
    assert.equal(await nodes.readLease({ uuid: 'y', nodeId: 'local' }), undefined)
    assert.deepEqual(asked, ['GET /instances/x/host-lease', 'GET /instances/y/host-lease'])
    goAway()
    await assert.rejects(nodes.readLease({ uuid: 'x', nodeId: 'local' }), NodeUnavailable)
    await nodes.close()
  })

  it('waits a second for a lease, and asks once', async () => {
    let asked = 0
    const { nodes, goAway } = await hostThat(() => (asked += 1))
    const askedAtMs = performance.now()
    await assert.rejects(nodes.readLease({ uuid: 'x', nodeId: 'local' }), NodeUnavailable)
    assert.ok(performance.now() - askedAtMs < 2_500)
    assert.equal(asked, 1)
    goAway()
    await nodes.close()
  })

  it('answers with an empty log if the host does not know the instance', async () => {
    const { nodes, goAway } = await hostThat((_request, response) => response.writeHead(404).end())
    const log = await nodes.readLog({ uuid: 'x', nodeId: 'local' }, { offset: -5, limit: 5 })
    assert.deepEqual(log, {
      availableStart: 0,
      availableEnd: 0,
      rangeStart: 0,
      rangeEnd: 0,
      outputBase64: '',
    })
    await nodes.close()
    goAway()
  })

  it('does not repeat a call after the host did not answer in time', async () => {
    let asked = 0
    const { nodes, goAway } = await hostThat(
      () => (asked += 1),
      () => ({ live: true }),
    )
    await assert.rejects(nodes.readAwake('local', ['a']), NodeUnavailable)
    await assert.rejects(nodes.readUsage('local', ['a']), NodeUnavailable)
    assert.equal(asked, 2)
    goAway()
    await nodes.close()
  })
})

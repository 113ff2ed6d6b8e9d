import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { maxExecSessionsPerAccount } from '../../../src/contract/limits.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { ExecRefused } from '../../../src/host/exec/exec-session.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { ExecClient, refusedUpgrade } from '../../support/exec-client.ts'
import { startExecHost } from '../../support/exec-host.ts'
import type { ExecHost } from '../../support/exec-host.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { until } from '../../support/until.ts'

describe('a program of a user, over the API', () => {
  let api: TestApi
  let host: ExecHost
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    host = await startExecHost(api)
    user = await api.addUser()
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
  })
  afterEach(async () => {
    delete host.refusal
    await until('no instance is held awake', () => host.holds() === 0, { limitMs: 10_000 })
  })
  after(async () => {
    await host.close()
    await api.close()
  })

  const path = '/v1/instances/web/exec'
  const open = async (token = user.token) => await ExecClient.open(api.url, token, path)

  async function run(...argv: readonly string[]): Promise<ExecClient> {
    const client = await open()
    client.tell({ type: 'run', argv })
    return client
  }

  it('prints on two streams, and its code comes last', async () => {
    const client = await run('sh', '-c', 'echo out; echo err >&2; exit 7')
    assert.deepEqual(await client.closed(), [1000, ''])
    assert.deepEqual([client.stdout, client.stderr], ['out\n', 'err\n'])
    assert.deepEqual(client.news, [{ type: 'started' }, { type: 'exit', code: 7 }])
  })

  it('gets its input, with what was sent before it ran, to the end', async () => {
    const client = await run('cat')
    client.input('one ')
    client.input('two')
    client.tell({ type: 'end_of_input' })
    await client.closed()
    assert.equal(client.stdout, 'one two')
  })

  it('passes on far more than is held anywhere on the way', async () => {
    const client = await run('cat')
    const piece = 'x'.repeat(60_000)
    for (let sent = 0; sent < 50; sent++) client.input(piece)
    client.tell({ type: 'end_of_input' })
    await client.closed()
    assert.equal(client.stdout.length, 50 * piece.length)
  })

  it('has a terminal that changes its size, and gets signals', async () => {
    const sized = await open()
    sized.tell({ type: 'run', argv: ['stty', 'size'], terminal: { rows: 5, columns: 9 }, term: 'vt100' })
    await sized.closed()
    assert.equal(sized.stdout, '5 9\r\n')
    assert.equal(host.programs.at(-1)?.term, 'vt100')
    const client = await run('sleep', '100')
    await once(client.socket, 'message')
    client.tell({ type: 'signal', signal: 15 })
    await client.closed()
    assert.deepEqual(client.news.at(-1), { type: 'exit', signal: 15 })
  })

  it('that is missing fails with 127 and the reason', async () => {
    const client = await run('nothing')
    assert.equal((await client.closed())[0], 1000)
    assert.deepEqual(client.news, [
      { type: 'failed', code: 127, message: 'nothing: No such file or directory' },
    ])
  })

  it('ends with its client, and with its instance', async () => {
    const left = await run('sleep', '100')
    await once(left.socket, 'message')
    assert.equal(host.holds(), 1)
    left.socket.terminate()
    await until('the host lets go', () => host.holds() === 0, { limitMs: 10_000 })
    const lost = await run('sleep', '100')
    await once(lost.socket, 'message')
    host.lose()
    assert.deepEqual(await lost.closed(), [4003, 'the instance ended, or closed the session'])
  })

  it('that a client does not read waits, and costs nobody memory', async () => {
    const client = await run('yes')
    await once(client.socket, 'message')
    client.socket.pause()
    const other = await run('sh', '-c', 'echo on')
    await other.closed()
    assert.equal(other.stdout, 'on\n')
    client.socket.terminate()
  })

  it('is refused with the reason of the host', async () => {
    const reasons = { unable: 4000, 'not-running': 4001, busy: 4002 } as const
    for (const [reason, code] of Object.entries(reasons)) {
      host.refusal = new ExecRefused(reason as keyof typeof reasons, `it is ${reason}`)
      assert.deepEqual(await (await run('cat')).closed(), [code, `it is ${reason}`])
    }
    delete host.refusal
  })

  it('is told in an event, without its arguments', async () => {
    await (await run('sh', '-c', 'echo secret')).closed()
    await settledEvents(api.database)
    const { events } = (await api.send({ path: '/v1/events?kind=instance.exec&count=1', token: user.token }))
      .json.data
    assert.deepEqual(events[0].facts, { program: 'sh' })
    assert.equal(JSON.stringify(events).includes('secret'), false)
    assert.equal(api.logLines.join('').includes('echo secret'), false)
  })

  it('is closed with a sentence if a message is not sound', async () => {
    const wrong = [
      ['{', 'a text message must be JSON'],
      ['{"type":"resize","rows":1,"columns":1}', "'run' comes first, and once"],
      ['{"type":"run","argv":[]}', /^'argv' must be a list/],
      ['{"type":"run","argv":["a\\u0000"]}', /^'argv' must be a list/],
      ['{"type":"run","argv":["a"],"terminal":{"rows":-1}}', /^in 'terminal'/],
      ['{"type":"run","argv":["a"],"term":"a b"}', /^'term' must be/],
    ] as const
    for (const [text, sentence] of wrong) {
      const client = await open()
      client.tell(text)
      const [code, reason] = await client.closed()
      assert.equal(code, 4004)
      assert.match(reason, typeof sentence === 'string' ? new RegExp(`^${sentence}$`) : sentence)
    }
    const bytes = await open()
    bytes.input('early')
    assert.equal((await bytes.closed())[0], 4004)
  })

  it('needs the scope operate, a token and an instance within reach, before the upgrade', async () => {
    const rights = { scopes: [TokenScope.Read], services: null }
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
    assert.equal((await refusedUpgrade(api.url, token, path)).status, 403)
    assert.equal((await refusedUpgrade(api.url, 'nobody', path)).status, 401)
    const other = await api.addUser()
    const missing = await refusedUpgrade(api.url, other.token, path)
    assert.match(missing.text, /No instance with the name 'web'|no instance/i)
    const plain = await api.send({ path, token: user.token })
    assert.deepEqual([plain.status, plain.json.status], [200, 'error'])
    assert.match(plain.json.data.instances[0].message, /^'exec' is a WebSocket/)
  })

  it('is one of a bounded number for each account', async () => {
    const clients: ExecClient[] = []
    for (let each = 0; each < maxExecSessionsPerAccount; each++) clients.push(await open())
    assert.equal((await refusedUpgrade(api.url, user.token, path)).status, 429)
    for (const client of clients) client.socket.terminate()
    await until('there is room again', isAdmitted, { limitMs: 10_000 })
  })

  async function isAdmitted(): Promise<boolean> {
    try {
      const client = await open()
      client.socket.terminate()
      return true
    } catch {
      return false
    }
  }

  it('ends with a sentence when the API stops', async () => {
    const client = await run('sleep', '100')
    await once(client.socket, 'message')
    api.stopping.abort()
    assert.deepEqual(await client.closed(), [1001, 'the API restarts'])
  })
})

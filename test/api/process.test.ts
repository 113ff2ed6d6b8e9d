import { strict as assert } from 'node:assert'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { openDatabase } from '../../src/db/database.ts'
import type { Database } from '../../src/db/database.ts'
import { insertInstances } from '../../src/db/instance/create.ts'
import { createProofTokens } from '../../src/db/service/proof-token.ts'
import { parseSecretKey } from '../../src/db/secret-box.ts'
import { createToken } from '../../src/db/account/tokens.ts'
import { ensureKeys } from '../../src/launch/keys.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../support/accounts.ts'
import { createApiClient } from '../support/api-client.ts'
import { startDnsServer } from '../support/dns-server.ts'
import type { DnsServer } from '../support/dns-server.ts'
import { createTestDatabase } from '../support/postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'

const portOffset = 3
const checkout = path.resolve(import.meta.dirname, '../..')

describe('the API process', () => {
  let own: TestDatabase
  let database: Database
  let directory: string
  let child: ChildProcess
  let env: NodeJS.ProcessEnv
  let url: string
  let dns: DnsServer
  before(async function () {
    this.timeout(60_000)
    own = await createTestDatabase()
    dns = await startDnsServer()
    database = await openDatabase({ url: own.url, applicationName: 'api process test' })
    directory = await mkdtemp(path.join(tmpdir(), 'roost-api-'))
    const keyFile = (name: string) => path.join(directory, 'keys', name)
    await ensureKeys(
      {
        secretKeyFile: keyFile('secret.key'),
        joinTokenFile: keyFile('join-token'),
        gatewayTokenFile: keyFile('gateway-token'),
        registryKeyFile: keyFile('registry.key'),
        registryCertFile: keyFile('registry.crt'),
        authorityKeyFile: keyFile('authority.key'),
        authorityCertFile: keyFile('authority.crt'),
        hostsAddress: {},
      },
      Date.now(),
    )
    const { api: port } = await rememberedPorts(path.join(directory, 'ports.json'), ['api'])
    url = `http://127.0.0.1:${port}`
    env = {
      ...process.env,
      ROOST_DATA_DIR: directory,
      ROOST_API_PORT: String(port),
      ROOST_PORT_OFFSET: String(portOffset),
      ROOST_DOMAIN_PROOF: 'txt',
      ROOST_ACME_RESOLVER: dns.resolver,
      DATABASE_URL: own.url,
      // Nothing listens at these two addresses. The API has to start nevertheless.
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      ROOST_REGISTRY_URL: 'http://127.0.0.1:1',
    }
    child = spawn(process.execPath, ['src/bin/api.ts'], {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    })
    for await (const line of createInterface({ input: child.stdout! })) {
      if ((JSON.parse(line) as { msg: string }).msg === 'listening') break
    }
    child.stdout!.resume()
  })
  after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await database.close()
    await own.drop()
    await dns.close()
    await rm(directory, { recursive: true })
  })

  it('does not begin to answer if the port for further hosts is taken, and says so in one sentence', async () => {
    const squatter = createServer().listen(0)
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    const run = promisify(execFile)(process.execPath, ['src/bin/api.ts'], {
      cwd: checkout,
      env: { ...env, ROOST_API_PORT: String(await freePort()), ROOST_HOSTS_ADDRESS: `192.0.2.1:${port}` },
    })
    await assert.rejects(run, ({ code, stdout, stderr }: Record<string, unknown>) => {
      assert.equal(code, 1)
      const sentence =
        /^The API can not start: port (\d+), at which .*, is in use: .* another port than 192\.0\.2\.1:\d+\n$/
      assert.equal(sentence.exec(String(stderr))?.[1], String(port), String(stderr))
      assert.ok(!String(stdout).includes('"listening"'))
      return true
    })
    squatter.close()
  })

  it('publishes no service on its own port, where a gateway could not listen', async () => {
    const user = await addUser(database, { name: 'bob' })
    const { token } = await createToken(database, { userUuid: user.uuid })
    const api = createApiClient({ url, token })
    const ownPort = Number(new URL(url).port)
    const publish = async (port: number) => {
      const { entries } = await api.attempt('createServices', { body: { services: [{ port }] } })
      return entries.map((entry) => ('error' in entry ? entry.error : entry.status))
    }
    assert.deepEqual(await publish(ownPort - portOffset), [24])
    assert.deepEqual(await publish(ownPort), ['success'])
    await api.close()
  })

  it('asks the DNS server of its settings for the proof of a custom domain, by its own key', async () => {
    const user = await addUser(database, { name: 'prover' })
    const { token } = await createToken(database, { userUuid: user.uuid })
    const api = createApiClient({ url, token })
    const serve = () =>
      api.attempt('createServices', {
        body: { services: [{ port: 443 }], domains: [{ name: 'shop.example.test.' }] },
      })
    assert.partialDeepStrictEqual((await serve()).entries, [{ error: 24 }])
    const key = parseSecretKey(await readFile(path.join(directory, 'keys', 'secret.key'), 'utf8'))
    const name = '_roost-proof.example.test'
    dns.answers.set(`TXT ${name}`, [
      { type: 'TXT', name, data: `roost-proof=${createProofTokens(key)(user.uuid)}` },
    ])
    assert.partialDeepStrictEqual((await serve()).entries, [{ status: 'success' }])
    await api.close()
  })

  it('serves without Temporal and without a registry, and ends waits when it is told to stop', async () => {
    const user = await addUser(database, { name: 'ann' })
    const { token } = await createToken(database, { userUuid: user.uuid })
    await addNode(database)
    const secretBox = testSecretBox
    const made = await insertInstances({ database, secretBox }, wantedInstance(user, { name: 'a' }))
    assert.ok(made.ok)
    const api = createApiClient({ url, token })
    assert.deepEqual(
      (await api.call('listInstances')).map(({ name }) => name),
      ['a'],
    )
    assert.equal((await api.attempt('listImages')).httpStatus, 503)
    const created = await api.attempt('createInstances', { body: { image: 'hello' } })
    assert.partialDeepStrictEqual(created.entries, [{ error: 10 }])

    const waiting = api.attempt('waitInstances', { object: 'a' })
    await api.call('getQuotas')
    const exited = once(child, 'exit')
    const beganMs = performance.now()
    child.kill('SIGTERM')
    assert.equal((await waiting).httpStatus, 503)
    await api.close()
    assert.deepEqual(await exited, [0, null])
    assert.ok(performance.now() - beganMs < 5_000)
  })
})

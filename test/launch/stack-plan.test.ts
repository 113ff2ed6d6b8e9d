import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readSettings } from '../../src/settings/settings.ts'
import { addressesFileName, planStack } from '../../src/launch/stack-plan.ts'
import type { StackPlan } from '../../src/launch/stack-plan.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { welcome } from '../../src/launch/welcome.ts'

const installed = { temporalCli: '/cache/temporal', registry: '/cache/docker-registry' }
const hooks = {
  takesOver: false,
  people: [],
  afterDatabase: async () => {},
  afterApi: async () => {},
}
const real = {
  DATABASE_URL: 'postgres://roost:secret@db:5432/roost',
  TEMPORAL_ADDRESS: 'temporal:7233',
  ROOST_REGISTRY_URL: 'http://registry:5000',
}

describe('the plan of a stack', () => {
  let dataDir: string
  let ports: Readonly<Record<'api' | 'ui', number>>

  beforeEach(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-plan-'))
    ports = await rememberedPorts(path.join(dataDir, 'test-ports.json'), ['api', 'ui'])
  })

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  function settings(env: Readonly<Record<string, string>>) {
    return readSettings({
      ROOST_DATA_DIR: dataDir,
      ROOST_API_PORT: String(ports.api),
      ROOST_TEMPORAL_UI_PORT: String(ports.ui),
      ...env,
    })
  }

  async function plan(env: Readonly<Record<string, string>> = real): Promise<StackPlan> {
    return planStack(settings(env), installed, hooks)
  }

  it('starts no service that the settings name', async () => {
    const { parts, addresses } = await plan()
    assert.deepEqual(
      parts.map((part) => part.name),
      ['api', 'worker', 'agent', 'gateway'],
    )
    assert.equal(addresses.temporalAddress, 'temporal:7233')
  })

  it('starts the other services before the parts that need them', async () => {
    const { parts, addresses } = await plan({ DATABASE_URL: real.DATABASE_URL })
    assert.deepEqual(
      parts.map((part) => part.name),
      ['temporal', 'registry', 'registry-owner', 'api', 'worker', 'agent', 'gateway'],
    )
    assert.match(addresses.registryUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('gives users the address of the process that owns the registry, and the parts the address of the registry itself', async () => {
    const { parts, addresses } = await plan({ DATABASE_URL: real.DATABASE_URL })
    for (const name of ['registry-owner', 'api', 'agent']) {
      const env = parts.find((part) => part.name === name)?.env
      assert.equal(`http://127.0.0.1:${env?.['ROOST_REGISTRY_OWNER_PORT']}`, addresses.registryUrl)
      assert.notEqual(env?.['ROOST_REGISTRY_URL'], addresses.registryUrl)
      assert.equal(env?.['ROOST_REGISTRY_BOUNDED'], 'on')
    }
    const given = (await plan()).parts.find((part) => part.name === 'api')?.env
    assert.equal(given?.['ROOST_REGISTRY_URL'], real.ROOST_REGISTRY_URL)
    assert.equal(given?.['ROOST_REGISTRY_BOUNDED'], undefined)
  })

  it('tells every part of Roost where the services are, but hosts and the gateway nothing of the database', async () => {
    const { parts } = await plan()
    for (const part of parts) {
      assert.equal(part.env?.['TEMPORAL_ADDRESS'], 'temporal:7233')
      const knowsDatabase = part.name === 'api' || part.name === 'worker'
      assert.equal(part.env?.['DATABASE_URL'], knowsDatabase ? real.DATABASE_URL : '', part.name)
      // A variable that is absent here is inherited from the supervisor. So a secret that a part must not
      // know is set here, to an empty text.
      assert.equal('ROOST_ACME_EAB_HMAC_KEY' in (part.env ?? {}), !knowsDatabase, part.name)
    }
  })

  it('tells the parts the settings that depend on the user who started the stack, because they run as other users', async () => {
    const { parts } = await plan({ ...real, ROOST_PORT_OFFSET: '7', ROOST_VM_EGRESS: 'off' })
    for (const { env, name } of parts) {
      assert.equal(env?.['ROOST_PORT_OFFSET'], '7', name)
      assert.equal(env?.['ROOST_VM_EGRESS'], 'off', name)
      assert.equal(env?.['ROOST_CACHE_DIR'], settings({}).cacheDir, name)
    }
  })

  it('puts no secret into an argument, because everybody on the machine could read it there', async () => {
    const { parts } = await plan()
    for (const part of parts) assert.doesNotMatch(part.args.join(' '), /secret/)
  })

  it('lets only the owner read the addresses, because they contain the password', async () => {
    await plan()
    const file = path.join(dataDir, addressesFileName)
    assert.equal(statSync(file).mode & 0o077, 0)
    assert.equal(
      (JSON.parse(readFileSync(file, 'utf8')) as { databaseUrl: string }).databaseUrl,
      real.DATABASE_URL,
    )
  })

  it('shows public addresses with the port at which they are reached, and no `roost admin ca` if the operator gave a certificate', async () => {
    const { addresses } = await plan()
    const own = { ROOST_METRO_CERT_FILE: '/own.crt', ROOST_METRO_DOMAIN: 'apps.example' }
    const text = welcome(settings({ ROOST_PORT_OFFSET: '8000', ...own }), addresses)
    assert.ok(text.includes('https://<name>.apps.example:8443'))
    assert.ok(!text.includes('roost admin ca'))
    assert.ok(
      welcome(settings({ ROOST_PORT_OFFSET: '0', ...own }), addresses).includes(
        'https://<name>.apps.example\n',
      ),
    )
  })

  it('ends in a welcome with every address and commands to paste, without the token itself', async () => {
    const { addresses } = await plan({ DATABASE_URL: real.DATABASE_URL })
    const text = welcome(settings({}), addresses)
    for (const address of [addresses.apiUrl, addresses.registryUrl, `127.0.0.1:${ports.ui}`]) {
      assert.ok(text.includes(address), address)
    }
    assert.match(text, /https:\/\/<name>\.roost\.localhost.*npx roost admin ca/)
    assert.match(text, /^ {2}npx roost run hello --name first && npx roost ps$/m)
    assert.match(text, /curl .*\$\(cat .*\/token\).* -X POST .*official\/hello:latest/)
  })
})

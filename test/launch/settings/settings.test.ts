import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { settingsDocument } from '../../../src/settings/settings-document.ts'
import { SettingError } from '../../../src/settings/setting-formats.ts'
import { readSettings } from '../../../src/settings/settings.ts'

const machine = {
  homeDirectory: '/home/ada',
  checkoutDirectory: '/src/roost',
  lowPorts: false,
  networkDevices: false,
}

describe('settings', () => {
  it('have the documented defaults', () => {
    const settings = readSettings({}, machine)
    assert.equal(settings.dataDir, '/src/roost/.roost')
    assert.equal(settings.cacheDir, '/home/ada/.cache/roost')
    assert.equal(settings.apiUrl, 'http://127.0.0.1:7070')
    assert.equal(settings.metroDomain, 'roost.localhost')
    assert.equal(settings.temporalUiPort, 8233)
    assert.equal(settings.databaseUrl, undefined)
  })

  it('move public ports by 8000 if low ports may not be bound', () => {
    assert.equal(readSettings({}, machine).portOffset, 8000)
    assert.equal(readSettings({}, { ...machine, lowPorts: true }).portOffset, 0)
  })

  it('let instances reach the outside only if the host can filter what they send', () => {
    const rooted = { ...machine, networkDevices: true }
    assert.equal(readSettings({}, machine).vmEgress, false)
    assert.equal(readSettings({}, rooted).vmEgress, true)
    assert.equal(readSettings({ ROOST_VM_EGRESS: 'off' }, rooted).vmEgress, false)
  })

  it('take an overcommit of memory from 0.1 to 10, and a reserve of nothing', () => {
    const read = (env: Readonly<Record<string, string>>) => readSettings(env, machine)
    assert.deepEqual([read({}).memoryOvercommit, read({}).memoryReserveMb], [1, 1_024])
    assert.equal(read({ ROOST_MEMORY_OVERCOMMIT: '1.25' }).memoryOvercommit, 1.25)
    assert.equal(read({ ROOST_MEMORY_RESERVE_MB: '0' }).memoryReserveMb, 0)
    for (const text of ['0', '0.05', '10.5', '-1', '1e1', 'much', '1.'])
      assert.throws(() => read({ ROOST_MEMORY_OVERCOMMIT: text }), SettingError, text)
    assert.throws(() => read({ ROOST_MEMORY_RESERVE_MB: '-1' }), SettingError)
  })

  it('take 1 to 64 processes of a gateway, and leave one processor free without a number', () => {
    const read = (text: string) => readSettings({ ROOST_GATEWAY_PROCESSES: text }, machine).gatewayProcesses
    assert.deepEqual([read('1'), read('64')], [1, 64])
    assert.equal(read(''), Math.min(64, Math.max(1, availableParallelism() - 1)))
    for (const text of ['0', '65', '-1', '1.5', 'all']) assert.throws(() => read(text), SettingError, text)
  })

  it('keep everything of a stack below its data directory', () => {
    const settings = readSettings({ ROOST_DATA_DIR: '/data' }, machine)
    assert.equal(settings.agentDir, '/data/agent')
    assert.equal(settings.joinTokenFile, '/data/keys/join-token')
    assert.equal(settings.registryCertFile, '/data/keys/registry.crt')
  })

  it('derive the address of the API from its host and port', () => {
    assert.equal(readSettings({ ROOST_API_PORT: '9000' }, machine).apiUrl, 'http://127.0.0.1:9000')
  })

  it('give each of several stacks its own network, which is the same at every start', () => {
    const subnet = (directory: string) => readSettings({ ROOST_DATA_DIR: directory }, machine).vmSubnet
    assert.equal(subnet('/a'), subnet('/a'))
    const all = ['/a', '/b', '/c', '/d'].map(subnet)
    assert.ok(new Set(all).size > 1)
    for (const one of all) assert.match(one, /^10\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d+\.0\/20$/)
  })

  it('admit clients from other machines only with a metro domain that leads them here', () => {
    const host = (env: Readonly<Record<string, string>>) => readSettings(env, machine).gatewayHost
    assert.equal(host({}), '127.0.0.1')
    assert.equal(host({ ROOST_METRO_DOMAIN: 'localhost' }), '127.0.0.1')
    assert.equal(host({ ROOST_METRO_DOMAIN: 'apps.example.com' }), undefined)
    assert.equal(host({ ROOST_METRO_DOMAIN: 'notlocalhost' }), undefined)
    assert.equal(host({ ROOST_GATEWAY_HOST: '::' }), '::')
  })

  it('write a metro domain as a name is written: in lower case, without a final dot', () => {
    assert.equal(
      readSettings({ ROOST_METRO_DOMAIN: 'Apps.Example.com.' }, machine).metroDomain,
      'apps.example.com',
    )
  })

  it('count an empty variable as absent', () => {
    assert.equal(readSettings({ ROOST_API_PORT: '', DATABASE_URL: '' }, machine).apiPort, 7070)
  })

  const refused: readonly (readonly [string, string])[] = [
    ['ROOST_API_PORT', '0'],
    ['ROOST_API_PORT', '65536'],
    ['ROOST_API_PORT', '70.5'],
    ['ROOST_API_PORT', 'http'],
    ['ROOST_PORT_OFFSET', '-1'],
    ['ROOST_VMM', 'firecracker'],
    ['ROOST_VM_SUBNET', '10.64.1.0/16'],
    ['ROOST_VM_SUBNET', '10.64.8.0/20'],
    ['ROOST_VM_SUBNET', '10.64.0.0/18'],
    ['ROOST_VM_SUBNET', '10.300.0.0/16'],
    ['ROOST_VM_EGRESS', 'yes'],
    ['ROOST_LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'localhost'],
    ['ROOST_METRO_DOMAIN', 'not a domain'],
    ['ROOST_METRO_DOMAIN', '*.example.com'],
    ['ROOST_METRO_DOMAIN', `${'long-label.'.repeat(18)}com`],
    ['ROOST_SERVER_TIMING', 'yes'],
    ['ROOST_CONNECTIONS_PER_SOURCE', '0'],
    ['ROOST_TRUSTED_PROXIES', 'haproxy.internal'],
    ['ROOST_TRUSTED_PROXIES', '10.0.0.1,'],
    ['ROOST_TRUSTED_PROXIES', '10.0.0.1 10.0.0.2'],
    ['ROOST_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['ROOST_TRUSTED_PROXIES', '10.0.0.0/'],
    ['ROOST_TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['ROOST_TRUSTED_PROXIES', 'fd00::/129'],
    ['ROOST_TRUSTED_PROXIES', 'fe80::1%eth0'],
    ['ROOST_TRUSTED_PROXIES', '[fd00::1]'],
    ['ROOST_TRUSTED_PROXIES', '::ffff:10.0.0.1'],
    ['ROOST_VM_BANDWIDTH_MBIT', '0'],
    ['ROOST_VM_BANDWIDTH_MBIT', '100001'],
    ['ROOST_VM_BANDWIDTH_MBIT', '1.5'],
    ['ROOST_ACME_DIRECTORY_URL', 'http://acme.example/directory'],
    ['ROOST_ACME_DIRECTORY_URL', 'acme.example'],
    ['ROOST_ACME_CONTACT', 'nobody'],
    ['ROOST_ACME_CONTACT', 'ann@example.com,,'],
    ['ROOST_ACME_CONTACT', 'ann@example.com?subject=x'],
    ['ROOST_ACME_RESOLVER', 'dns.example'],
    ['ROOST_DIAGNOSIS_PRIVATE', 'yes'],
    ['ROOST_DOMAIN_PROOF', 'on'],
    ['ROOST_ACME_ORDERS', '0'],
    ['ROOST_ACME_RESOLVER', '10.0.0.256'],
    ['ROOST_ACME_RESOLVER', '10.0.0.1:0'],
    ['ROOST_ACME_RESOLVER', 'fd00::1:53:'],
    ['ROOST_ACME_EAB_HMAC_KEY', 'not a key'],
  ]
  for (const [name, value] of refused) {
    it(`refuse ${name}=${value} and name the variable`, () => {
      assert.throws(
        () => readSettings({ [name]: value }, machine),
        (error: Error) => error instanceof SettingError && error.message.includes(name),
      )
    })
  }

  it('take trusted proxies as addresses and networks, and say of a wrong one what to write instead', () => {
    const trusted = (text: string) => readSettings({ ROOST_TRUSTED_PROXIES: text }, machine).trustedProxies
    assert.deepEqual(trusted(''), [])
    assert.deepEqual(trusted('10.0.0.5, 10.1.0.0/16,fd00::/8'), ['10.0.0.5', '10.1.0.0/16', 'fd00::/8'])
    assert.throws(() => trusted('10.0.0.5, haproxy'), {
      message:
        "ROOST_TRUSTED_PROXIES has 'haproxy'; write IP addresses and networks such as 10.0.0.5, 10.1.0.0/16 or fd00::/8, with commas between them",
    })
  })

  it('do not repeat a URL in an error: it may hold a password', () => {
    assert.throws(
      () => readSettings({ DATABASE_URL: 'secret-password-and-no-url' }, machine),
      (error: Error) => !error.message.includes('secret-password'),
    )
  })

  it('do not repeat a key in an error', () => {
    assert.throws(
      () => readSettings({ ROOST_ACME_EAB_HMAC_KEY: 'secret key' }, machine),
      (error: Error) => !error.message.includes('secret key'),
    )
  })

  it('take a DNS server with and without a port, and several mail addresses', () => {
    const resolver = (text: string) => readSettings({ ROOST_ACME_RESOLVER: text }, machine).acmeResolver
    assert.equal(resolver('10.0.0.2'), '10.0.0.2:53')
    assert.equal(resolver('10.0.0.2:5353'), '10.0.0.2:5353')
    assert.equal(resolver('[fd00::2]'), '[fd00::2]:53')
    assert.equal(resolver('fd00::2'), '[fd00::2]:53')
    assert.equal(resolver('[fd00::2]:5353'), '[fd00::2]:5353')
    assert.deepEqual(readSettings({ ROOST_ACME_CONTACT: 'a@b.c, d@e.f' }, machine).acmeContact, [
      'a@b.c',
      'd@e.f',
    ])
  })

  it('have the documentation that is generated from them', () => {
    const file = path.resolve(import.meta.dirname, '../../../docs/settings.md')
    assert.equal(
      readFileSync(file, 'utf8'),
      settingsDocument(),
      'run node src/settings/write-settings-document.ts',
    )
  })
})

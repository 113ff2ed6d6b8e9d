import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { forgetGone, readFeed } from '../../../src/db/service/feed-read.ts'
import { namesQuery, routesQuery } from '../../../src/db/sql/feed.ts'
import {
  certificateKeyContext,
  nameLine,
  routeLine,
  trafficSecretOf,
} from '../../../src/db/service/feed-routes.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { recordInstance } from '../../../src/db/instance/projection.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import type { RouteLine } from '../../../src/domain/service/route-feed.ts'
import {
  addNode,
  addUser,
  hearNode,
  testAgentSecret,
  testSecretBox,
  wantedInstance,
} from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { settledFeed } from '../../support/settled-feed.ts'
import { readRows } from '../../support/rows.ts'

const port = { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] }

describe('the route feed', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let clients: pg.Client[]
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'feed-test' })
    await addNode(database)
    await addNode(database, { id: 'second' })
    user = await addUser(database, { name: 'ann', hard: { instances: 1_000 } })
  })
  beforeEach(() => (clients = []))
  afterEach(() => Promise.all(clients.map((client) => client.end())))
  after(async () => {
    await database.close()
    await own.drop()
  })

  const routes = async (since?: string) => {
    const { rows, ...frame } = await readFeed(database, routesQuery, since)
    return { ...frame, lines: rows.map((row) => routeLine(testSecretBox, row)) }
  }
  const names = async (node: string, since?: string) => {
    const { rows, ...frame } = await settledFeed(database, () => readFeed(database, namesQuery(node), since))
    return { ...frame, lines: rows.map(nameLine) }
  }
  /** The present revision: a read from this revision on tells only what changes from now on. */
  const now = async () => (await settledFeed(database, () => routes())).revision
  const sql = (text: string, ...values: readonly unknown[]) =>
    readRows<Record<string, string>>(database, { text, values })
  async function transaction(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: own.url, application_name: 'feed-test transaction' })
    clients.push(client)
    await client.connect()
    await client.query('begin')
    return client
  }
  async function addService(domains: readonly string[] = []): Promise<string> {
    const uuid = randomUUID()
    await sql(
      `insert into services (uuid, user_uuid, name, persistent, soft_limit, hard_limit, ports)
       values ($1, $2, $3, true, 1, 100, $4::text::jsonb)`,
      uuid,
      user.uuid,
      `service-${uuid.slice(0, 8)}`,
      JSON.stringify([port]),
    )
    for (const [ordinal, fqdn] of domains.entries()) {
      await sql('insert into domains (fqdn, service_uuid, ordinal) values ($1, $2, $3)', fqdn, uuid, ordinal)
    }
    return uuid
  }
  async function addInstance(serviceUuid?: string): Promise<string> {
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
    assert.ok(outcome.ok)
    const { uuid } = outcome.instances[0]!
    if (serviceUuid !== undefined)
      await sql('update instances set service_uuid = $2 where uuid = $1', uuid, serviceUuid)
    return uuid
  }
  const record = (uuid: string, revision: number, state: InstanceState) =>
    recordInstance(
      database,
      { uuid, revision },
      { state, boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: revision },
    )
  const idOf = (line: RouteLine) => {
    if (line.kind === 'gone') return `gone ${line.what} ${line.id}`
    const { uuid, id = uuid } = Object.values(line)[1] as { uuid?: string; id?: string }
    return `${line.kind} ${id}`
  }

  it('tells everything to a new reader: hosts, services with their domains, and attached instances', async () => {
    const service = await addService(['b.example', '*.a.example'])
    const instance = await addInstance(service)
    const loose = await addInstance()
    const { snapshot, lines } = await routes()
    assert.equal(snapshot, true)
    const toldService = lines.find((line) => idOf(line) === `service ${service}`)
    assert.deepEqual(toldService, {
      kind: 'service',
      service: {
        uuid: service,
        userUuid: user.uuid,
        name: `service-${service.slice(0, 8)}`,
        domains: [{ fqdn: 'b.example' }, { fqdn: '*.a.example' }],
        ports: [port],
        softLimit: 1,
        hardLimit: 100,
      },
    })
    const told = lines.find((line) => idOf(line) === `instance ${instance}`)
    assert.ok(told?.kind === 'instance')
    const { name, ...rest } = told.instance
    assert.match(name, /^hello-/)
    assert.deepEqual(rest, { uuid: instance, serviceUuid: service, nodeId: 'local', state: 'stopped' })
    assert.ok(!lines.map(idOf).some((id) => id.includes(loose)))
    assert.deepEqual(
      lines.find((line) => idOf(line) === 'node second'),
      {
        kind: 'node',
        node: {
          id: 'second',
          agentUrl: 'http://127.0.0.1:7171',
          trafficSecret: trafficSecretOf(testAgentSecret('second')),
        },
      },
    )
    assert.ok(!JSON.stringify(lines).includes(testAgentSecret('second')))
  })

  it('tells from a revision on what changed since, and nothing else', async () => {
    const [service, other] = [await addService(), await addService()]
    const [instance] = [await addInstance(service), await addInstance(other)]
    const since = await now()
    assert.deepEqual((await routes(since)).lines, [])
    await record(instance, 1, InstanceState.Running)
    const { snapshot, lines } = await routes(since)
    assert.equal(snapshot, false)
    assert.deepEqual(lines.map(idOf), [`instance ${instance}`])
    assert.ok(lines[0]?.kind === 'instance' && lines[0].instance.state === 'running')
  })

  it('loses nothing of a transaction that began early and commits late', async () => {
    const [service, early, late] = [await addService(), await addInstance(), await addInstance()]
    const attach = 'update instances set service_uuid = $2 where uuid = $1'
    const before = await now()
    const slow = await transaction()
    await slow.query(attach, [early, service])
    const quick = await transaction()
    await quick.query(attach, [late, service])
    await quick.query('commit')

    const between = await routes(before)
    assert.deepEqual(between.lines.map(idOf), [`instance ${late}`])
    await slow.query('commit')
    const after = await settledFeed(database, () => routes(between.revision))
    assert.ok(after.lines.map(idOf).includes(`instance ${early}`))
    assert.deepEqual((await routes(after.revision)).lines, [])
  })

  it('loses nothing of a deletion that began early and commits late', async () => {
    const [service, other] = [await addService(), await addService()]
    const before = await now()
    const slow = await transaction()
    await slow.query('delete from services where uuid = $1', [service])
    await sql('delete from services where uuid = $1', other)
    const between = await routes(before)
    assert.deepEqual(between.lines.map(idOf), [`gone service ${other}`])
    await slow.query('commit')
    assert.ok((await routes(between.revision)).lines.map(idOf).includes(`gone service ${service}`))
  })

  it('repeats a row while an older transaction is open, with the same mark, so that a reader can drop the repeat', async () => {
    const instance = await addInstance(await addService())
    const before = await now()
    const slow = await transaction()
    await slow.query('select pg_current_xact_id()')
    await record(instance, 1, InstanceState.Running)
    const first = await readFeed(database, routesQuery, before)
    const second = await readFeed(database, routesQuery, first.revision)
    assert.deepEqual(second.rows, first.rows)
    await slow.query('rollback')
  })

  it('tells of objects that are deleted, marked deleted, detached or released', async () => {
    const service = await addService(['gone.example'])
    const [deleted, marked, detached] = [
      await addInstance(service),
      await addInstance(service),
      await addInstance(service),
    ]
    await addNode(database, { id: 'third' })
    const since = await now()
    await sql('delete from instances where uuid = $1', deleted)
    await markDeleted(database, user.uuid, marked)
    await sql('update instances set service_uuid = null where uuid = $1', detached)
    await sql(`update nodes set agent_secret = '' where id = 'third'`)
    const { lines } = await routes(since)
    assert.deepEqual(
      new Set(lines.map(idOf)),
      new Set([...[deleted, marked, detached].map((uuid) => `gone instance ${uuid}`), 'gone node third']),
    )
    await sql('delete from services where uuid = $1', service)
    assert.ok((await routes(since)).lines.map(idOf).includes(`gone service ${service}`))
    assert.ok(!(await routes()).lines.map(idOf).includes(`service ${service}`))
  })

  it('tells a host that was removed and joined again as present', async () => {
    await addNode(database, { id: 'fourth' })
    const since = await now()
    await sql(`delete from nodes where id = 'fourth'`)
    assert.deepEqual((await routes(since)).lines.map(idOf), ['gone node fourth'])
    await addNode(database, { id: 'fourth' })
    assert.deepEqual((await routes(since)).lines.map(idOf), ['node fourth'])
  })

  it('tells a service again when a domain of it comes, goes or gets a certificate', async () => {
    const service = await addService(['one.example'])
    const domains = async (since: string) => {
      const [line, ...more] = (await routes(since)).lines.filter(({ kind }) => kind === 'service')
      assert.deepEqual(more, [])
      return line?.kind === 'service' ? line.service.domains : undefined
    }
    const first = await now()
    await sql('insert into domains (fqdn, service_uuid, ordinal) values ($1, $2, 1)', 'two.example', service)
    assert.deepEqual(await domains(first), [{ fqdn: 'one.example' }, { fqdn: 'two.example' }])
    const second = await now()
    await sql('delete from domains where fqdn = $1', 'one.example')
    assert.deepEqual(await domains(second), [{ fqdn: 'two.example' }])
    const third = await now()
    const certificateUuid = await addCertificate('pending')
    await sql('update domains set certificate_uuid = $1 where fqdn = $2', certificateUuid, 'two.example')
    assert.deepEqual(await domains(third), [{ fqdn: 'two.example', certificateUuid }])
    const fourth = await now()
    await sql('delete from certificates where uuid = $1', certificateUuid)
    assert.deepEqual(await domains(fourth), [{ fqdn: 'two.example' }])
    assert.ok((await routes(fourth)).lines.map(idOf).includes(`gone certificate ${certificateUuid}`))
  })

  async function addCertificate(state: string, keySealed?: (uuid: string) => string): Promise<string> {
    const uuid = randomUUID()
    await sql(
      `insert into certificates (uuid, user_uuid, name, common_name, state, chain, key_sealed)
       values ($1, $2, $3, 'two.example', $4, $5, $6)`,
      uuid,
      user.uuid,
      `certificate-${uuid.slice(0, 8)}`,
      state,
      keySealed === undefined ? null : 'the chain',
      keySealed?.(uuid) ?? null,
    )
    return uuid
  }

  it('gives the key of a certificate only where it is valid, and can be opened', async () => {
    const sealed = (uuid: string) => testSecretBox.seal('the key', certificateKeyContext(uuid))
    const since = await now()
    const valid = await addCertificate('valid', sealed)
    const failed = await addCertificate('error', sealed)
    const foreign = await addCertificate('valid', () => sealed(valid))
    const told = new Map(
      (await routes(since)).lines.flatMap((line) =>
        line.kind === 'certificate' ? [[line.certificate.uuid, line.certificate]] : [],
      ),
    )
    const commonName = 'two.example'
    assert.deepEqual(told.get(valid), {
      uuid: valid,
      commonName,
      state: 'valid',
      chain: 'the chain',
      key: 'the key',
    })
    assert.deepEqual(told.get(failed), { uuid: failed, commonName, state: 'error' })
    assert.deepEqual(told.get(foreign), { uuid: foreign, commonName, state: 'error' })
  })

  it('does not change for what it does not show: heartbeats, records without a new state, instances without a service', async () => {
    const [attached, loose] = [await addInstance(await addService()), await addInstance()]
    await record(attached, 1, InstanceState.Running)
    const since = await now()
    await record(attached, 2, InstanceState.Running)
    await record(loose, 1, InstanceState.Running)
    await addNode(database)
    assert.deepEqual((await routes(since)).lines, [])
  })

  it('tells everything if the revision is of another server, from its future, or nonsense', async () => {
    const { revision } = await routes()
    const [server, xid] = revision.split('.') as [string, string]
    for (const since of [
      '',
      'nonsense',
      `1-1.${xid}`,
      `${server}.${BigInt(xid) + 1_000_000n}`,
      `${server}.x`,
      '9'.repeat(5_000),
    ]) {
      assert.equal((await routes(since)).snapshot, true, since)
    }
    assert.equal((await routes(revision)).snapshot, false)
  })

  it('forgets deletions after a while, and tells everything to a reader that was away for longer', async () => {
    const [service, other] = [await addService(), await addService()]
    const long = await now()
    await sql('delete from services where uuid = $1', service)
    const recent = await now()
    assert.equal((await routes(long)).snapshot, false)
    assert.equal(await forgetGone(database), 0)
    assert.ok((await forgetGone(database, { rememberMs: 0 })) >= 1)
    assert.equal((await routes(long)).snapshot, true)
    await sql('delete from services where uuid = $1', other)
    const { snapshot, lines } = await routes(recent)
    assert.deepEqual({ snapshot, ids: lines.map(idOf) }, { snapshot: false, ids: [`gone service ${other}`] })
  })

  describe('of names', () => {
    it('follows creates, renames, deletes and removals of rows', async () => {
      const first = (await names('local')).revision
      const uuid = await addInstance()
      await sql(`update instances set node_id = 'local', private_ip = '10.64.99.99' where uuid = $1`, uuid)
      const created = await names('local', first)
      const [line] = created.lines
      assert.ok(line?.kind === 'name' && line.name.userUuid === user.uuid)
      assert.match(line.name.privateIp, /^10\.64\./)
      await sql('update instances set name = $2 where uuid = $1', uuid, 'another')
      const renamed = await names('local', created.revision)
      assert.ok(renamed.lines[0]?.kind === 'name' && renamed.lines[0].name.name === 'another')
      await markDeleted(database, user.uuid, uuid)
      const marked = await names('local', renamed.revision)
      assert.deepEqual(marked.lines, [{ kind: 'gone', what: 'name', id: uuid }])
      await sql('delete from instances where uuid = $1', uuid)
      assert.deepEqual((await names('local', marked.revision)).lines, marked.lines)
    })
  })

  it('notifies readers of changes that concern them, and of nothing else', async () => {
    const listener = new pg.Client({ connectionString: own.url, application_name: 'feed-test listener' })
    clients.push(listener)
    await listener.connect()
    await listener.query('listen roost_feed')
    let heard: string[] = []
    listener.on('notification', ({ payload = '' }) => heard.push(payload))
    const hearAll = async () => {
      await sql(`select pg_notify('roost_feed', 'last')`)
      while (!heard.includes('last')) await listener.query('select 1')
      heard = heard.filter((payload) => payload !== 'last')
    }
    const heardOf = async (change: () => Promise<unknown>) => {
      await hearAll()
      heard = []
      await change()
      await hearAll()
      return heard
    }
    const [service, loose] = [await addService(), await addInstance()]
    const attached = await addInstance(service)
    assert.deepEqual(await heardOf(() => record(attached, 1, InstanceState.Running)), ['routes'])
    assert.deepEqual(await heardOf(() => record(attached, 2, InstanceState.Running)), [])
    assert.deepEqual(await heardOf(() => record(loose, 1, InstanceState.Running)), [])
    assert.deepEqual(await heardOf(() => addNode(database)), [])
    assert.deepEqual(await heardOf(() => addInstance()), ['routes names'])
    assert.deepEqual(await heardOf(() => markDeleted(database, user.uuid, loose)), ['routes names'])
    assert.deepEqual(await heardOf(() => hearNode(database, { agentUrl: 'http://127.0.0.1:7272' })), [
      'routes',
    ])
  })
})

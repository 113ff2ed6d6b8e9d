import { strict as assert } from 'node:assert'
import type { CliControl, CliDeps } from '../../../src/cli/cli-deps.ts'
import { withDatabase } from '../../../src/cli/database-session.ts'
import { runCli } from '../../../src/cli/program.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { recordRegistryUsage } from '../../../src/db/image/registry-usage.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import { createTokenAuthenticator } from '../../../src/db/account/authenticator.ts'
import { createService } from '../../../src/db/service/create.ts'
import type { DoctorReport } from '../../../src/launch/doctor/doctor.ts'
import { defaultHardQuotas, defaultQuotaLimits } from '../../../src/domain/account/quotas.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createEmptyDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

interface Ran {
  readonly code: number
  readonly out: string
  readonly notes: string
}

const healthy: DoctorReport = {
  ok: true,
  checks: [
    { name: 'KVM', status: 'warning', detail: 'emulation is used', remedy: 'enable virtualisation' },
    { name: 'root', status: 'ok', detail: 'yes' },
  ],
}

describe('the roost command', () => {
  let own: TestDatabase
  let doctor: DoctorReport = healthy
  let control: Pick<CliControl, 'instances'> | undefined
  before(async () => {
    own = await createEmptyDatabase()
  })
  after(() => own.drop())
  beforeEach(() => {
    doctor = healthy
  })

  async function roost(...args: readonly string[]): Promise<Ran> {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: (work) => withDatabase(own.url, work),
      readHostLease: () => assert.fail(),
      withControl: async (work) => await work(control as CliControl),
      images: { store: async ({ name }) => ({ reference: name, digest: 'sha256:0' }) },
      doctor: async () => doctor,
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }
  const json = async (...args: readonly string[]) => {
    const { code, out, notes } = await roost(...args, '--json')
    assert.deepEqual([code, notes], [0, ''])
    return JSON.parse(out)
  }

  it('creates users on a database that is still empty', async () => {
    const user = await json('user', 'create', 'Ann', '--instances', '7', '--max-vcpus', '4')
    assert.equal(user.name, 'ann')
    assert.deepEqual(user.hard, { ...defaultHardQuotas, instances: 7 })
    assert.deepEqual(user.limits, { ...defaultQuotaLimits, maxVcpus: 4 })
    assert.equal(user.admin, false)
  })

  it('lists users as a table, and in JSON as they were created', async () => {
    const made = await json('user', 'create', 'bob', '--admin')
    const users = await json('user', 'list')
    assert.deepEqual(
      users.find((user: { name: string }) => user.name === 'bob'),
      made,
    )
    const { out } = await roost('user', 'list')
    assert.match(out, /^NAME +UUID +ADMIN/)
    assert.match(out, /\nbob +[0-9a-f-]{36} +yes +64 /)
  })

  it('tells what the images of each user take in the registry, as its owner measured it', async () => {
    const made = await json('user', 'create', 'rita', '--registry-mb', '30')
    const other = await json('user', 'create', 'rolf')
    const record = (usage: Record<string, number>) =>
      withDatabase(own.url, (database) => recordRegistryUsage(database, new Map(Object.entries(usage))))
    const usedMb = async (uuid: string) =>
      (await withDatabase(own.url, (database) => readQuotas(database, uuid)))?.used.registryMb
    await record({ rita: 12 * 1_048_576 + 1, official: 7 })
    assert.match((await roost('user', 'list')).out, /\nrita .* 13 of 30 /)
    assert.deepEqual([await usedMb(made.uuid), await usedMb(other.uuid)], [13, 0])
    await record({ rolf: 5 })
    assert.deepEqual([await usedMb(made.uuid), await usedMb(other.uuid)], [0, 1])
  })

  it('changes only those quotas that are given', async () => {
    const before = await json('user', 'create', 'carl')
    const after = await json('user', 'set-quota', 'carl', '--live-memory-mb', '99', '--max-memory-mb', '77')
    assert.deepEqual(after, {
      ...before,
      hard: { ...before.hard, liveMemoryMb: 99 },
      limits: { ...before.limits, maxMemoryMb: 77 },
    })
  })

  it('prints a token once, alone on standard output, and it works until it is revoked', async () => {
    await roost('user', 'create', 'dora')
    const { code, out, notes } = await roost('token', 'create', 'dora', '--label', 'laptop', '--developer')
    assert.equal(code, 0)
    const token = out.trim()
    const authenticate = () =>
      withDatabase(own.url, (database) => createTokenAuthenticator(database).authenticate(token))
    const found = await authenticate()
    assert.ok(found.kind === 'valid')
    const { userName, developer, tokenUuid } = found.identity
    assert.deepEqual([userName, developer], ['dora', true])
    assert.ok(notes.includes(tokenUuid))
    const [listed] = await json('token', 'list', '--user', 'dora')
    assert.deepEqual([listed.uuid, listed.label, listed.user], [tokenUuid, 'laptop', 'dora'])
    assert.ok(!JSON.stringify(listed).includes(token))
    assert.deepEqual(await json('token', 'revoke', listed.uuid), { uuid: listed.uuid, revoked: true })
    assert.deepEqual(await authenticate(), { kind: 'unknown' })
    assert.notEqual((await json('token', 'list', '--user', 'dora'))[0].revokedAt, null)
  })

  it('answers a token in JSON together with its uuid', async () => {
    await roost('user', 'create', 'emil')
    const made = await json('token', 'create', 'emil')
    assert.equal(Buffer.from(made.token, 'base64').toString().split(':')[0], 'emil')
    assert.equal((await json('token', 'list', '--user', 'emil'))[0].uuid, made.uuid)
  })

  it('makes a token that may do little, for some services and for a time, and lists what it is', async () => {
    const { uuid: userUuid } = await json('user', 'create', 'finn')
    await withDatabase(own.url, async (database) => {
      const service = { ports: [], domains: [], softLimit: 1, hardLimit: 1, metroDomain: 'metro.test' }
      for (const name of ['shop', 'blog']) {
        assert.ok((await createService({ database }, userUuid, { ...service, name })).ok)
      }
    })
    const scopes = ['--scope', 'read', '--scope', 'metrics', '--scope', 'read']
    const services = ['--service', 'shop', '--service', 'Blog']
    const beganMs = Date.now()
    const made = await json('token', 'create', ...scopes, ...services, '--expires', '30d', 'finn')
    const rights = { scopes: ['read', 'metrics'], services: ['shop', 'blog'] }
    assert.partialDeepStrictEqual(made, rights)
    const lifetimeMs = Date.parse(made.expiresAt) - beganMs
    assert.ok(lifetimeMs >= 30 * 86_400_000 && lifetimeMs < 30 * 86_400_000 + 60_000)
    const found = await withDatabase(own.url, (database) =>
      createTokenAuthenticator(database).authenticate(made.token),
    )
    assert.partialDeepStrictEqual(found, { kind: 'valid', identity: rights })
    const until = '2999-01-31T12:00:00+02:00'
    const second = await json('token', 'create', 'finn', '--scope', 'images:push', '--expires', until)
    const [first, other] = await json('token', 'list', '--user', 'finn')
    assert.partialDeepStrictEqual(first, { ...rights, uuid: made.uuid, expiresAt: made.expiresAt })
    assert.partialDeepStrictEqual(other, { uuid: second.uuid, services: null })
    assert.equal(other.expiresAt, '2999-01-31T10:00:00.000Z')
    const { out } = await roost('token', 'list', '--user', 'finn')
    assert.match(
      out,
      /^UUID +USER +LABEL +SCOPES +SERVICES +DEVELOPER +CREATED +EXPIRES +LAST USED +REVOKED\n/,
    )
    assert.match(out, / read,metrics +shop,blog +no /)
    assert.match(out, / images:push +all +no .* 2999-01-31T10:00:00.000Z /)
  })

  const impossible: [args: string, message: RegExp][] = [
    ['user create official', /'official' can not be a user's name.*reserved/],
    ['user create 9lives', /'9lives' can not be a user's name/],
    ['user create taken', /there is a user 'taken' already/],
    ['user create f --min-memory-mb 9000', /--min-memory-mb 9000 is above --max-memory-mb 8192/],
    ['user set-quota nobody --instances 1', /there is no user 'nobody'/],
    ['user set-quota taken', /nothing to change/],
    ['user set-quota taken --max-memory-mb 1', /--min-memory-mb 16 is above --max-memory-mb 1/],
    [
      'user set-quota taken --min-autoscale-size 33',
      /--min-autoscale-size 33 is above --max-autoscale-size 32/,
    ],
    ['token create nobody', /there is no user 'nobody'/],
    ['token create taken --service shop', /--service needs --scope/],
    ['token create taken --service shop --scope images:push', /images belong to the whole account/],
    ['token create taken --service shop --scope read', /taken has no service 'shop'/],
    ['token list --user nobody', /there is no user 'nobody'/],
    ['token revoke 00000000-0000-4000-8000-000000000000', /there is no token/],
    ['token revoke laptop', /there is no token 'laptop'/],
  ]
  for (const [args, message] of impossible) {
    it(`fails with exit code 1 and says why: ${args}`, async () => {
      await roost('user', 'create', 'taken')
      const { code, out, notes } = await roost(...args.split(' '))
      assert.deepEqual([code, out], [1, ''])
      assert.match(notes, message)
    })
  }

  const mistaken = [
    '',
    'bogus',
    'user',
    'user create',
    'user create a b',
    'user create a --instances 0',
    'user create a --instances 1.5',
    'user create a --instances 2147483648',
    'user list --bogus',
    'token create',
    'token create a --scope everything',
    'token create a --service a--b --scope read',
    'token create a --expires tomorrow',
    'token create a --expires 30',
    'token create a --expires 0d',
    'token create a --expires 2020-01-01T00:00:00Z',
    'token create a --expires 2999-13-01T00:00:00Z',
    'token create a --expires 2999-01-01',
    'image import only-one',
  ]
  for (const args of mistaken) {
    it(`answers wrong arguments with exit code 2: roost ${args}`, async () => {
      const { code, out, notes } = await roost(...args.split(' ').filter((arg) => arg !== ''))
      assert.deepEqual([code, out], [2, ''])
      assert.notEqual(notes, '')
    })
  }

  for (const args of ['--help', 'user --help', 'token create --help', 'image push --help', 'doctor --help']) {
    it(`explains itself with exit code 0: roost ${args}`, async () => {
      const { code, out } = await roost(...args.split(' '))
      assert.equal(code, 0)
      assert.match(out, /^Usage: roost /)
    })
  }

  it('lists and cordons hosts, and releases and removes those that are silent', async () => {
    await withDatabase(own.url, (database) => addNode(database, { id: 'attic' }))
    assert.partialDeepStrictEqual(await json('node', 'list'), [
      { id: 'attic', live: true, released: false, instances: 0 },
    ])
    assert.match((await roost('node', 'explain', 'attic')).out, /^attic is live: no instance is there; 0 of /)
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await json('node', 'cordon', 'attic'), { id: 'attic', cordoned: true })
      assert.match((await roost('node', 'list')).out, /\nattic +live, cordoned +0 /)
    }
    assert.match((await roost('node', 'explain', 'attic')).out, /\nnext: no new instances are placed here, /)
    assert.match(
      (await roost('node', 'uncordon', 'attic')).out,
      /^host attic is not cordoned: new instances /,
    )
    assert.match((await roost('node', 'list')).out, /\nattic +live +0 /)
    for (const command of ['cordon', 'uncordon']) {
      const unknown = await roost('node', command, 'cellar')
      assert.equal(unknown.code, 1)
      assert.match(unknown.notes, /no host 'cellar'/)
    }
    const live = await roost('node', 'remove', 'attic')
    assert.equal(live.code, 1)
    assert.match(live.notes, /stop its agent first/)
    await withDatabase(own.url, (database) =>
      database.orm.em
        .fork()
        .execute("update nodes set heartbeat_at = now() - interval '1 minute'", [], 'run'),
    )
    assert.match((await roost('node', 'list')).out, /^ID +STATE .*\nattic +silent +0 /)
    assert.match(
      (await roost('node', 'explain', 'attic')).out,
      /^attic has been silent since .*\nnext: nothing new /,
    )
    assert.deepEqual(await json('node', 'release', 'attic'), { id: 'attic', released: true })
    assert.match((await roost('node', 'list')).out, /\nattic +released /)
    assert.deepEqual(await json('node', 'remove', 'attic'), { id: 'attic', removed: true })
    const gone = await roost('node', 'release', 'attic')
    assert.deepEqual([gone.code, gone.out], [1, ''])
    assert.match(gone.notes, /no host 'attic'/)
    assert.match((await roost('node', 'explain', 'attic')).notes, /no host 'attic'/)
  })

  it('removes a host that never comes back with what is deleted on it, and with nothing else', async () => {
    const rows = await withDatabase(own.url, async (database) => {
      await addNode(database, { id: 'lost' })
      const user = await addUser(database, { name: 'owner-of-lost' })
      const deps = { database, secretBox: testSecretBox }
      const made = await insertInstances(deps, wantedInstance(user, { name: 'left', replicas: 1 }))
      assert.ok(made.ok)
      await readRows(database, {
        text: "update nodes set heartbeat_at = now() - interval '1 h' where id = 'lost'",
      })
      await readRows(database, {
        text: "update instances set node_id = 'lost' where name like 'left%'",
      })
      return made.instances
    })
    const told: string[] = []
    const remove = (uuid: string): Promise<void> =>
      withDatabase(own.url, (database) => removeInstanceRow(database, uuid))
    control = {
      instances: {
        drainUntilMs: () => assert.fail(),
        hostGone: async (uuid) => {
          told.push(uuid)
          await remove(uuid)
        },
      },
    }
    const refused = await roost('node', 'remove', 'lost')
    assert.equal(refused.code, 1)
    assert.match(refused.notes, /host 'lost' has instances: delete them first/)
    const [first, second] = rows.map(({ uuid }) => uuid)
    const markDeletedSql = 'update instances set deleted_at = now() where uuid = $1'
    const markGone = (uuid: string | undefined): Promise<void> =>
      withDatabase(own.url, async (database) => {
        await readRows(database, { text: markDeletedSql, values: [uuid] })
      })
    await markGone(first)
    assert.equal((await roost('node', 'remove', 'lost')).code, 1)
    assert.deepEqual(told, [], 'one of them is not deleted')
    await markGone(second)
    assert.deepEqual(await json('node', 'remove', 'lost'), { id: 'lost', removed: true })
    assert.deepEqual(new Set(told), new Set([first, second]))
  })

  it('stores images under the name that is given', async () => {
    assert.deepEqual(await json('image', 'import', '/tmp/image.tar', 'official/hello:1'), {
      reference: 'official/hello:1',
      digest: 'sha256:0',
    })
  })

  it('tells what works, and fails if something needed is missing', async () => {
    const { code, out } = await roost('doctor')
    assert.equal(code, 0)
    assert.match(out, /warning +KVM: emulation is used\n +enable virtualisation\n/)
    doctor = { ok: false, checks: [{ name: 'QEMU', status: 'missing', detail: 'not found' }] }
    const failed = await roost('doctor', '--json')
    assert.equal(failed.code, 1)
    assert.deepEqual(JSON.parse(failed.out), doctor)
  })
})

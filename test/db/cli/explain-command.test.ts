import { strict as assert } from 'node:assert'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { withDatabase } from '../../../src/cli/database-session.ts'
import { runCli } from '../../../src/cli/program.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { createService } from '../../../src/db/service/create.ts'
import { Handler } from '../../../src/domain/service/handler.ts'
import type { ToldLease } from '../../../src/explain/instance/host-lease.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createEmptyDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('roost explain', () => {
  let own: TestDatabase
  let hostLease: ToldLease
  let uuid: string
  before(async () => {
    own = await createEmptyDatabase()
    await withDatabase(own.url, async (database) => {
      await addNode(database)
      for (const name of ['fritz', 'greta']) {
        const user = await addUser(database, { name })
        const wanted = wantedInstance(user, { name: 'shop' })
        const made = await insertInstances({ database, secretBox: testSecretBox }, wanted)
        assert.ok(made.ok)
        uuid = String(made.instances[0]?.uuid)
      }
    })
  })

  it('says of an instance, by name or UUID, what is recorded and what its host says', async () => {
    hostLease = undefined
    for (const args of [['shop', '--user', 'greta'], ['Shop', '--user', 'greta'], [uuid]]) {
      const { code, out, notes } = await roost('explain', ...args)
      assert.deepEqual([code, notes], [0, ''])
      assert.match(out, /^shop is stopped, because nobody started it yet\.\nnext: nothing, until/)
    }
    assert.partialDeepStrictEqual(await json('explain', uuid), { uuid, name: 'shop', state: 'stopped' })
  })
  after(() => own.drop())

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: (work) => withDatabase(own.url, work),
      readHostLease: async () => hostLease,
      withControl: () => assert.fail(),
      images: { store: () => assert.fail() },
      doctor: () => assert.fail(),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }
  const json = async (...args: readonly string[]) => JSON.parse((await roost(...args, '--json')).out)

  it('tells beside it that the host does not answer', async () => {
    hostLease = 'host local does not answer'
    const { out, notes } = await roost('explain', uuid)
    assert.match(out, /^shop is stopped/)
    assert.match(notes, /host local does not answer; this is what is recorded/)
  })

  it('says since when the host of a waiting instance is silent', async () => {
    hostLease = 'host local does not answer'
    const set = (text: string, values: readonly string[]): Promise<void> =>
      withDatabase(own.url, async (database) => void (await readRows(database, { text, values })))
    const become = (state: string): Promise<void> =>
      set('update instances set state = $1 where uuid = $2', [state, uuid])
    const heard = (at: string): Promise<void> => set('update nodes set heartbeat_at = $1::timestamptz', [at])
    await become('starting')
    assert.doesNotMatch((await roost('explain', uuid)).out, /silent/)
    await heard('2026-01-02T03:04:05Z')
    const { out } = await roost('explain', uuid)
    assert.match(
      out,
      /^shop is starting on host local; its host local has been silent since 2026-01-02T03:04:05/,
    )
    await heard('now')
    await become('stopped')
  })

  it('says of a service what a request to it meets', async () => {
    const { uuid: service } = await withDatabase(own.url, async (database) => {
      const made = []
      for (const name of ['fritz', 'greta']) {
        const [user] = await readRows<{ uuid: string }>(database, {
          text: 'select uuid from users where name = $1',
          values: [name],
        })
        const ports = [{ port: 443, destinationPort: 8080, handlers: [Handler.Tls, Handler.Http] }]
        const wanted = {
          name: 'till',
          ports,
          domains: [],
          softLimit: 1,
          hardLimit: 2,
          metroDomain: 'metro.test',
        }
        const outcome = await createService({ database }, user!.uuid, wanted)
        assert.ok(outcome.ok && outcome.service)
        made.push(outcome.service)
      }
      return made[1]!
    })
    for (const args of [['Till', '--user', 'greta'], [service]]) {
      const { out } = await roost('explain', ...args)
      assert.match(out, /^till .*\.\nnext: nothing/)
      assert.match(out, /\nits ports:\n {2}- 443: HTTP over TLS, to port 8080 of its instances\n$/)
    }
    assert.partialDeepStrictEqual(await json('explain', service), {
      uuid: service,
      name: 'till',
      state: 'refused',
    })
  })

  it('fails if there is no such object, or if several could be meant', async () => {
    for (const [args, message] of [
      ['nothing', /there is no instance 'nothing'/],
      ['shop --user nobody', /there is no instance 'shop' of nobody/],
      ['00000000-0000-4000-8000-000000000000', /there is no instance/],
      ['shop', /several users have an instance 'shop': name one with --user/],
      ['till', /several users have a service 'till': name one with --user/],
    ] as const) {
      const { code, notes } = await roost('explain', ...args.split(' '))
      assert.equal(code, 1)
      assert.match(notes, message)
    }
  })
})

import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { nameLine } from '../../../src/db/service/feed-routes.ts'
import { SharedNames } from '../../../src/db/service/shared-names.ts'
import { namesQuery } from '../../../src/db/sql/feed.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import type { NameLine } from '../../../src/domain/service/route-feed.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'
import { settledFeed } from '../../support/settled-feed.ts'
import { fuzzRuns, fuzzTimeoutMs } from '../../support/tape.ts'

const hosts = ['first', 'second', 'third'] as const

for (const way of ['read by each host', 'shared by all hosts'] as const)
  describe(`the feed of names, ${way}`, () => {
    let own: TestDatabase
    let database: Database
    let ann: UserRecord
    let bob: UserRecord
    let shared: SharedNames
    let addresses = 0
    before(async () => {
      own = await createTestDatabase()
      database = await openDatabase({ url: own.url, applicationName: 'names-test' })
      for (const id of hosts) await addNode(database, { id })
      ann = await addUser(database, { name: 'ann', hard: { instances: 1_000 } })
      bob = await addUser(database, { name: 'bob', hard: { instances: 1_000 } })
    })
    beforeEach(async () => {
      shared = new SharedNames(database)
      const { revision } = await readFeed(database, namesQuery('first'), undefined)
      // From here on it reads on. Before, everybody reads for itself.
      await shared.read('first', revision)
    })
    afterEach(async () => await sql('delete from instances'))
    after(async () => {
      await database.close()
      await own.drop()
    })

    const sql = async (text: string, ...values: readonly unknown[]) =>
      await readRows(database, { text, values })
    async function add(user: UserRecord, host: string): Promise<string> {
      const outcome = await insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
      assert.ok(outcome.ok)
      const { uuid } = outcome.instances[0]!
      addresses += 1
      const ip = `10.100.${String(addresses >> 8)}.${String(addresses & 255)}`
      await sql('update instances set node_id = $2, private_ip = $3 where uuid = $1', uuid, host, ip)
      return uuid
    }

    /** What a host knows, read as its agent reads it. */
    class Reader {
      readonly names = new PrivateNames()
      readonly #host: string

      constructor(host: string) {
        this.#host = host
      }

      /** Reads what is new, and returns it. */
      async read(): Promise<readonly NameLine[]> {
        const since = this.names.revision
        const { rows, snapshot, revision } = await settledFeed(database, () =>
          way === 'shared by all hosts'
            ? shared.read(this.#host, since)
            : readFeed(database, namesQuery(this.#host), since),
        )
        const lines = rows.map(nameLine)
        for (const line of [
          { kind: 'begin', snapshot } as const,
          ...lines,
          { kind: 'end', revision } as const,
        ])
          this.names.apply(line)
        return lines
      }

      known(): readonly string[] {
        return this.names
          .all()
          .map(({ uuid, isElsewhere }) => (isElsewhere === true ? `${uuid} elsewhere` : uuid))
          .toSorted()
      }
    }

    it('tells a host its own instances and those that their users have elsewhere, and nothing of other users', async () => {
      const here = await add(ann, 'first')
      const elsewhere = await add(ann, 'second')
      await add(bob, 'second')
      const reader = new Reader('first')
      await reader.read()
      assert.deepEqual(reader.known(), [here, `${elsewhere} elsewhere`].toSorted())
      const [other] = await add(bob, 'second').then(async () => await reader.read())
      assert.equal(other, undefined)
    })

    it('tells all that a user has, however old, when the first of them comes to the host', async () => {
      const old = await add(bob, 'second')
      const reader = new Reader('first')
      await reader.read()
      assert.deepEqual(reader.known(), [])
      const first = await add(bob, 'first')
      await reader.read()
      assert.deepEqual(reader.known(), [first, `${old} elsewhere`].toSorted())
      const { userUuid, privateIp } = reader.names.all().find(({ uuid }) => uuid === old)!
      assert.deepEqual(reader.names.elsewhere(), new Map([[privateIp, userUuid]]))
    })

    it('tells renames and deletes elsewhere, until the user has nothing on the host any more', async () => {
      const [here, elsewhere, last] = [
        await add(ann, 'first'),
        await add(ann, 'second'),
        await add(ann, 'third'),
      ]
      const reader = new Reader('first')
      await reader.read()
      await sql(`update instances set name = 'renamed' where uuid = $1`, elsewhere)
      await reader.read()
      assert.notEqual(reader.names.addressOf(ann.uuid, 'renamed'), undefined)
      await markDeleted(database, ann.uuid, elsewhere)
      assert.deepEqual(await reader.read(), [{ kind: 'gone', what: 'name', id: elsewhere }])
      await sql('delete from instances where uuid = $1', elsewhere)
      assert.deepEqual(await reader.read(), [{ kind: 'gone', what: 'name', id: elsewhere }])
      await markDeleted(database, ann.uuid, here)
      await reader.read()
      assert.deepEqual(reader.known(), [])
      await markDeleted(database, ann.uuid, last)
      assert.deepEqual(await reader.read(), [])
    })

    it('leads every host to what it would be told anew, whatever happened in whatever order', async () => {
      const kinds = ['add', 'add', 'add', 'rename', 'delete', 'remove', 'read', 'read', 'read'] as const
      const numbers = fc.nat({ max: 1_000 })
      const steps = fc.array(fc.tuple(fc.constantFrom(...kinds), numbers), { minLength: 40, maxLength: 80 })
      const property = fc.asyncProperty(steps, async (all) => await follow(all))
      await fc.assert(property, { ...fuzzRuns(4), endOnFailure: true })
    }).timeout(fuzzTimeoutMs)

    async function follow(steps: readonly (readonly [string, number])[]): Promise<void> {
      const readers = hosts.map((host) => ({ host, reader: new Reader(host) }))
      const live: { readonly uuid: string; readonly user: UserRecord }[] = []
      for (const [step, [what, number]] of steps.entries()) {
        const some = live[number % live.length]
        if (what === 'add') {
          const user = number % 2 === 0 ? ann : bob
          live.push({ uuid: await add(user, hosts[number % 3]!), user })
        } else if (what === 'read') await readers[number % 3]!.reader.read()
        else if (some === undefined) continue
        else if (what === 'rename')
          await sql('update instances set name = $2 where uuid = $1', some.uuid, `renamed-${String(step)}`)
        else {
          live.splice(live.indexOf(some), 1)
          await markDeleted(database, some.user.uuid, some.uuid)
          if (what === 'remove') await sql('delete from instances where uuid = $1', some.uuid)
        }
      }
      for (const { host, reader } of readers) {
        const anew = new Reader(host)
        await reader.read()
        await anew.read()
        assert.deepEqual(reader.known(), anew.known(), host)
        assert.deepEqual(reader.names.elsewhere(), anew.names.elsewhere(), host)
      }
      await sql('delete from instances')
    }
  })

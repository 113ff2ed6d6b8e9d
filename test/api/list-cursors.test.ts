import { strict as assert } from 'node:assert'
import type { OperationId } from '../../src/contract/operations.ts'
import { fakeDigest, startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { makeTestChain } from '../support/certificate-maker.ts'

const pageSize = 50
const wantedObjects = 120
const hard = { instances: 200, serviceGroups: 200, services: 200, volumes: 200, totalVolumeMb: 200 * 8 }

interface Resource {
  /** The operations that page through these objects. */
  readonly lists: readonly OperationId[]
  readonly create: OperationId
  readonly remove: OperationId
  readonly bodies: readonly object[]
  /** Present if a delete only marks the rows, which are removed later. */
  readonly marks?: true
}

describe('a list whose last known entry was deleted meanwhile', () => {
  let api: TestApi
  let user: TestUser
  const resources: Record<string, Resource> = {
    instances: {
      lists: ['listInstances', 'getInstances', 'getInstanceMetrics'],
      create: 'createInstances',
      remove: 'deleteInstances',
      marks: true,
      bodies: [99, 19].map((replicas) => ({ image: 'hello', replicas })),
    },
    services: {
      lists: ['listServices', 'getServices', 'getAutoscale'],
      create: 'createServices',
      remove: 'deleteServices',
      bodies: many(() => ({})),
    },
    volumes: {
      lists: ['listVolumes', 'getVolumes'],
      create: 'createVolumes',
      remove: 'deleteVolumes',
      marks: true,
      bodies: many(() => ({ size_mb: 8 })),
    },
    certificates: {
      lists: ['listCertificates', 'getCertificates'],
      create: 'createCertificates',
      remove: 'deleteCertificates',
      bodies: [],
    },
  }
  before(async () => {
    api = await startTestApi()
    const { leaf, between } = await makeTestChain(['www.example.com'])
    const body = { cn: 'www.example.com', chain: leaf.pem + between.pem, pkey: leaf.pkey }
    resources['certificates'] = { ...resources['certificates']!, bodies: many(() => body) }
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser({ hard })
    // Workflows can not be reached, so rows of deleted objects stay until the test removes them.
    api.control.faults.isAway = true
  })

  const uuidsOf = (entries: readonly object[]) => entries.map((entry) => (entry as { uuid: string }).uuid)
  const create = async ({ create: id }: Resource, bodies: readonly object[]) => {
    const uuids: string[] = []
    for (let at = 0; at < bodies.length; at += 25) {
      uuids.push(...uuidsOf(await user.api.call(id, { body: bodies.slice(at, at + 25) })))
    }
    return uuids
  }
  const page = async (id: OperationId, from: string | undefined, count = pageSize) => {
    const query = { count: String(count), ...(from === undefined ? {} : { from }) }
    return uuidsOf(await user.api.call(id, { query }))
  }
  const remove = async ({ remove: id }: Resource, uuids: readonly string[]) => {
    const body = uuids.map((uuid) => ({ uuid }))
    if (body.length > 0) await user.api.call(id, { body })
  }
  const removeMarked = (table: string) =>
    api.database.orm.em.getConnection().execute(`delete from ${table} where deleted_at is not null`)

  for (const kind of Object.keys(resources)) {
    it(`goes on after the place of that entry, so that all ${kind} can be deleted page by page`, async () => {
      const resource = resources[kind]!
      const all = await create(resource, resource.bodies)
      assert.equal(all.length, wantedObjects)
      const seen: string[] = []
      let last: string | undefined
      for (;;) {
        const uuids = await page(resource.lists[0]!, last)
        for (const other of resource.lists) assert.deepEqual(await page(other, last), uuids, other)
        if (uuids.length === 0) break
        seen.push(...uuids)
        last = uuids.at(-1)!
        await remove(resource, uuids)
        // After the first page the marked rows stay, as they do until the hosts are clean. After each later
        // page they are removed. The list has to go on in both cases.
        if (resource.marks && seen.length > pageSize) await removeMarked(kind)
      }
      assert.deepEqual(seen, all)
    })

    it(`shows the remaining ${kind}, each once`, async () => {
      const resource = resources[kind]!
      const bodies =
        resource.bodies.length > 9 ? resource.bodies.slice(0, 9) : [{ image: 'hello', replicas: 8 }]
      const all = await create(resource, bodies)
      const [first, second] = [await page(resource.lists[0]!, undefined, 3), all.slice(3, 6)]
      // The entry before the cursor, the cursor itself, and the entry after it.
      await remove(resource, [first[1]!, first[2]!, second[0]!])
      const rest = await page(resource.lists[0]!, first[2], 10)
      assert.deepEqual([first, rest], [all.slice(0, 3), all.slice(4)])
    })

    it(`refuses deleted ${kind} of another user in the same way as UUIDs that never existed`, async () => {
      const resource = resources[kind]!
      const [uuid] = await create(resource, resource.bodies.slice(-1))
      await remove(resource, [uuid!])
      const stranger = await api.addUser()
      for (const id of resource.lists) {
        const answerTo = async (from: string) => {
          const { httpStatus, errors } = await stranger.api.attempt(id, { query: { from } })
          return { httpStatus, errors: JSON.stringify(errors).replaceAll(from, '') }
        }
        const answer = await answerTo(uuid!)
        assert.equal(answer.httpStatus, 400)
        assert.deepEqual(answer, await answerTo('11111111-1111-4111-8111-111111111111'))
      }
    })
  }

  it('goes on at the place that the digest of an image would have, even if there never was that image', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${user.name}/${name}`)
    for (const name of names.toReversed()) api.images.references.set(`${name}:latest`, {})
    const read = async (query: Record<string, string>) =>
      (await user.api.call('listImages', { query: { count: '2', ...query } })).map(({ digest }) => digest)
    const [a, b, c, d, e, f] = names.map((name) => `${name}@${fakeDigest}`)
    const officialHello = `hello@${fakeDigest}`
    assert.deepEqual(await read({}), [officialHello, a])
    assert.deepEqual(await read({ from: officialHello }), [a, b])
    for (const name of names.slice(0, 2)) api.images.references.delete(`${name}:latest`)
    assert.deepEqual(await read({ from: b! }), [c, d])
    assert.deepEqual(await read({ from: `oci://${d}` }), [e, f])
    assert.deepEqual(await read({ from: f! }), [])
    assert.deepEqual(await read({ from: `official/hello@${fakeDigest}` }), [c, d])
    assert.deepEqual(await read({ from: '3' }), [e, f])
    assert.deepEqual(await read({ from: `aa/never@${fakeDigest}` }), [officialHello, c])
    for (const from of ['hello', 'hello:latest', fakeDigest, 'none']) {
      const { httpStatus, errors } = await user.api.attempt('listImages', { query: { from } })
      assert.equal(httpStatus, 400)
      assert.match(
        errors[0]?.message ?? '',
        /'from' in the query: '.*' is not the digest of an image, such as/,
      )
    }
  })
})

function many(body: () => object): readonly object[] {
  return Array.from({ length: wantedObjects }, body)
}

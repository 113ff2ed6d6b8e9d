import { strict as assert } from 'node:assert'
import { UnikraftCloud } from '@unikraft/cloud'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestChain } from '../../support/certificate-maker.ts'
import { runPythonSdk } from '../../support/python-sdk.ts'

/** The last page is full, has one entry, or is empty. */
const pageSizes = [1, 2, 3, 4, 5, 6]
const objects = 6

const sdkNames = ['instances', 'services', 'volumes', 'certificates'] as const
const creates = {
  instances: 'createInstances',
  services: 'createServices',
  volumes: 'createVolumes',
  certificates: 'createCertificates',
} as const

describe('the iteration of an SDK', () => {
  let api: TestApi
  let user: TestUser
  let bodies: Readonly<Record<(typeof sdkNames)[number], object>>
  before(async () => {
    api = await startTestApi()
    const { leaf, between } = await makeTestChain(['www.example.com'])
    bodies = {
      instances: { image: 'hello' },
      services: {},
      volumes: { size_mb: 8 },
      certificates: { cn: 'www.example.com', chain: leaf.pem + between.pem, pkey: leaf.pkey },
    }
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  async function create(name: (typeof sdkNames)[number], count = objects): Promise<readonly string[]> {
    const body = Array.from({ length: count }, () => bodies[name])
    const entries = await user.api.call(creates[name], { body })
    return entries.map((entry) => (entry as { uuid: string }).uuid)
  }

  /** The UUIDs of new objects of each kind, in the order of `sdkNames`. */
  async function createAll(): Promise<readonly (readonly string[])[]> {
    const uuids: (readonly string[])[] = []
    for (const name of sdkNames) uuids.push(await create(name))
    return uuids
  }

  const javascript = () => new UnikraftCloud({ baseUrl: api.url, token: user.token })

  for (const name of sdkNames) {
    it(`in JavaScript shows each of the ${name} once, whatever the size of the pages`, async () => {
      const uuids = await create(name)
      for (const pageSize of pageSizes) {
        const shown: (string | undefined)[] = []
        for await (const { uuid } of javascript()[name].list({ pageSize })) shown.push(uuid)
        assert.deepEqual(shown, uuids, `pages of ${pageSize}`)
      }
    })

    it(`in JavaScript can delete each of the ${name} that it shows`, async () => {
      for (const pageSize of pageSizes) {
        const uuids = await create(name)
        const shown: (string | undefined)[] = []
        for await (const { uuid } of javascript()[name].list({ pageSize })) {
          await javascript()[name].delete({ uuid })
          shown.push(uuid)
        }
        assert.deepEqual(shown, uuids, `pages of ${pageSize}`)
      }
    })
  }

  it('in Python shows each object of every list once, whatever the size of the pages', async () => {
    const uuids = await createAll()
    const script = `
      lists = [ukc.instances, ukc.services, ukc.volumes, ukc.certificates]
      return [
          [[one.uuid async for one in each.list(page_size=size)] for each in lists]
          for size in [${pageSizes.join(', ')}]
      ]
    `
    const shown = await runPythonSdk(api, user, script)
    for (const [index, pageSize] of pageSizes.entries())
      assert.deepEqual(shown[index], uuids, `pages of ${pageSize}`)
  })

  // With pages of these sizes, the last page that is asked for is behind the last object.
  for (const pageSize of [1, objects]) {
    it(`in Python can delete each object that it shows, with pages of ${pageSize}`, async () => {
      const uuids = await createAll()
      const script = `
        shown = []
        for each in [ukc.instances, ukc.services, ukc.volumes, ukc.certificates]:
            shown.append([])
            async for one in each.list(page_size=${pageSize}):
                await each.delete({"uuid": one.uuid})
                shown[-1].append(one.uuid)
        return shown
      `
      assert.deepEqual(await runPythonSdk(api, user, script), uuids)
    })
  }

  it('in Python with another User-Agent shows the last entry twice if a further page is empty', async () => {
    const uuids = await create('volumes')
    const script = `
      async with UnikraftCloud(base_url=sys.argv[1], token=sys.argv[2], user_agent="mine") as other:
          return [one.uuid async for one in other.volumes.list(page_size=${objects})]
    `
    assert.deepEqual(await runPythonSdk(api, user, script), [...uuids, uuids.at(-1)])
  })

  it('in Python goes on if every second of the objects that it has shown is deleted', async () => {
    for (const pageSize of [2, objects]) {
      const uuids = await create('volumes')
      const script = `
        shown = []
        async for one in ukc.volumes.list(page_size=${pageSize}):
            shown.append(one.uuid)
            if len(shown) % 2 == 0:
                await ukc.volumes.delete({"uuid": one.uuid})
        await ukc.volumes.delete([{"uuid": uuid} for uuid in shown[::2]])
        return shown
      `
      assert.deepEqual(await runPythonSdk(api, user, script), uuids, `pages of ${pageSize}`)
    }
  })
})

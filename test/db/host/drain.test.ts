import { strict as assert } from 'node:assert'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { drainSome } from '../../../activities/host/drain.ts'
import type { HostLossDeps } from '../../../activities/host/host-deps.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { json } from '../../../src/db/postgres-client.ts'
import type { DrainPage } from '../../../src/domain/host/drain.ts'
import { MoveStep } from '../../../src/domain/instance/lifecycle-state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

describe('a drain, of an instance whose volume is copied while it runs', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let uuid: string
  let asked: string[]
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'drains' })
    user = await addUser(database, { name: 'ann' })
    asked = []
    await addNode(database, { id: 'h1' })
    const made = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { name: 'web', memoryMb: 128 }),
    )
    assert.ok(made.ok)
    uuid = made.instances[0]!.uuid
    for (const id of ['h2', 'h3']) await addNode(database, { id })
    await database.db.updateTable('nodes').set({ meshKey: 'key' }).execute()
    await setUse(database, 'h1', HostUse.Draining)
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const tell = async (values: object) =>
    await database.db.updateTable('instances').set(values).where('uuid', '=', uuid).execute()
  const at = (step: MoveStep) => {
    const places = { from: { nodeId: 'h1', address: '' }, to: { nodeId: 'h2', address: '' } }
    return { move: json({ ...places, step, sinceMs: 1 }) }
  }
  const drains = async (pause: HostLossDeps['pause']): Promise<DrainPage> => {
    const instances = {
      hostLost: async () => undefined,
      hostGone: async () => undefined,
      async move(_settings: unknown, { to }: { readonly to: { readonly nodeId: string } }) {
        asked.push(to.nodeId)
        return { revision: 0 }
      },
    }
    const deps = { database, instances, pause, refusalSentence: ({ kind }: { kind: string }) => kind }
    const { signal } = new AbortController()
    const environment = new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') })
    return await environment.run(async () => await drainSome(deps, 'h1', { after: undefined, signal }))
  }

  it('chooses no other host for it, because the copy would begin anew, and says what it does', async () => {
    await tell(at(MoveStep.Copy))
    const { stuck } = await drains(async () => undefined)
    assert.deepEqual([asked, stuck.map(({ name }) => name)], [[], ['web']])
    assert.match(
      stuck[0]!.why,
      /from host h1 to host h2: its volume is being copied .* while it runs, since /,
    )
  })

  it('waits for the order to sleep after a long copy as after none', async () => {
    const timeline = [
      ...Array.from({ length: 150 }, () => at(MoveStep.Copy)),
      ...Array.from({ length: 50 }, () => at(MoveStep.Wanted)),
      { nodeId: 'h2', move: null },
    ]
    const { moved, stuck } = await drains(async () => void (await tell(timeline.shift() ?? {})))
    assert.deepEqual([asked.length, moved, stuck], [1, 1, []])
  })

  it('says of one that can not begin to move what it waits for', async () => {
    const { moved, stuck } = await drains(async () => void (await tell(at(MoveStep.Wanted))))
    assert.deepEqual([moved, stuck[0]?.why], [0, 'it has to start or to stop before it can move'])
  })
})

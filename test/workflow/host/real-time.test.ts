import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createHostLossActivities } from '../../../activities/host/look.ts'
import type { HostControl } from '../../../src/control/host-control.ts'
import { createHostControl } from '../../../src/control/temporal-host-control.ts'
import { TermWatch } from '../../../src/control/term-watch.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { overlookNodes, setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { placeOfVolume } from '../../../src/db/host/instances.ts'
import { readTerms, removeAsLost } from '../../../src/db/host/loss.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import { MoveRefused } from '../../../src/domain/instance/move-refused.ts'
import type { HostLoss } from '../../../src/domain/host/term.ts'
import { hostWorkflowId } from '../../../workflows/host/messages.ts'
import { stateAttribute } from '../../../workflows/search-attributes.ts'
import { addNode, addUser, testAgentSecret, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

const soon = { limitMs: 60_000 }
const termMs = 60_000

describe('the workflow of a host in Temporal', () => {
  let env: TestWorkflowEnvironment
  let hosts: HostControl
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let workers: RunningWorkers
  /** What the watch's clock shows. It stands still unless a test moves it. */
  let nowMs: number
  let watch: TermWatch
  let told: { readonly uuid: string; readonly loss: HostLoss }[]
  let gone: string[]
  let refused: Set<string>
  let id: string
  before(async () => {
    env = await startDevServer()
    hosts = createHostControl(env.client)
  })
  after(() => env.teardown())
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'host workflow' })
    user = await addUser(database, { name: 'ann' })
    id = `h-${randomUUID()}`
    nowMs = 1_000
    told = []
    gone = []
    refused = new Set()
    watch = new TermWatch({
      readTerms: () => readTerms(database),
      start: async () => undefined,
      nowMs: () => nowMs,
      onProblem: () => undefined,
    })
    workers = await runWorkers(env, { control: activities() })
  })
  afterEach(async () => {
    await workers.stop()
    await database.close()
    await own.drop()
  })

  const activities = () =>
    createHostLossActivities({
      database,
      watch,
      instances: {
        async hostLost({ instanceUuid: uuid }, loss) {
          if (refused.has(uuid)) throw new Error('it can not be told now')
          told.push({ uuid, loss })
        },
        async hostGone(uuid) {
          gone.push(uuid)
          await removeInstanceRow(database, uuid)
        },
        async move({ instanceUuid: uuid }, { to, volume }) {
          if (refused.has(uuid)) throw new MoveRefused('a program runs in it')
          if (volume !== undefined)
            await set('update volumes set node_id = $1 where uuid = $2', to.nodeId, volume.uuid)
          await set('update instances set node_id = $1 where uuid = $2', to.nodeId, uuid)
          return { revision: 0 }
        },
      },
      volumes: {
        async hostGone(uuid) {
          gone.push(uuid)
          await set('delete from volumes where uuid = $1', uuid)
        },
      },
      refusalSentence: ({ kind }) => kind,
      pause: (_, signal) => delay(1, undefined, { signal }),
    })
  const set = async (text: string, ...values: readonly unknown[]) =>
    readRows(database, { text, values: [...values] })
  const beat = async (loss = 0, term: number | undefined = termMs) => {
    await recordHeartbeat(
      { database, secretBox: testSecretBox },
      { id, firstSubnet: '10.64.0.0/20' },
      {
        agentUrl: 'http://127.0.0.1:7171',
        agentSecret: testAgentSecret(id),
        accelerator: 'fake',
        memoryMb: 65_536,
        volumeMb: 1_048_576,
        occupiedSubnets: [],
        version: '1',
        loss,
        ...(term !== undefined && { termMs: term }),
      },
    )
    await watch.look()
  }
  /** Time passes in the watch, as long as it can look. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      nowMs += 1_000
      await watch.look()
    }
  }
  const create = async (count: number) => {
    const wanted = wantedInstance(user, { replicas: count - 1 })
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wanted)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances.map(({ uuid }) => uuid)
  }
  const withVolume = async (uuid: string, isDeleted = false) => {
    const [row] = await readRows<{ uuid: string }>(database, {
      text: `insert into volumes (uuid, name, user_uuid, node_id, size_mb, phase, made, persistent)
        values (gen_random_uuid(), $1, $2, $3, 8, 'ready', true, true) returning uuid`,
      values: [`v-${uuid}`, user.uuid, id],
    })
    await set("update instances set volume_uuid = $1, volume_at = '/data' where uuid = $2", row!.uuid, uuid)
    if (isDeleted) await set('update volumes set deleted_at = now() where uuid = $1', row!.uuid)
    return row!.uuid
  }
  /** All hosts take part in the mesh. */
  const joinMesh = async () => set('update nodes set mesh_key = id')
  const lostAt = async () => (await readTerms(database)).find((term) => term.id === id)?.lostAt
  const handle = () => env.client.workflow.getHandle(hostWorkflowId(id))
  const details = async () => {
    const { currentDetails } = await handle().query<{ readonly currentDetails?: string }>(
      '__temporal_workflow_metadata',
    )
    return currentDetails ?? ''
  }
  const untilDetails = (fits: RegExp) =>
    until(`the details are ${fits.source}`, async () => fits.test(await details()), soon)

  it('ends when the host is heard, and is started again with the next silence', async () => {
    await beat()
    await beat()
    await pass(5_000)
    await hosts.ensureStarted(id)
    await hosts.ensureStarted(id)
    await untilDetails(
      /^\*\*silent\*\*: host h-.*: not heard since .*; it counts as lost in 59 s unless it is heard/,
    )
    await beat()
    await hosts.lookAgain(id)
    await handle().result()
    assert.equal(await lostAt(), null)
    const { runId } = await handle().describe()
    await pass(5_000)
    await hosts.ensureStarted(id)
    assert.notEqual((await handle().describe()).runId, runId)
    await handle().terminate()
  }).timeout(120_000)

  it('declares the host lost when term and margin are over, tells all, and ends when it has cleared up', async () => {
    await beat()
    const uuids = await create(3)
    await withVolume(uuids[2]!)
    refused.add(uuids[1]!)
    await beat()
    await pass(63_000)
    await hosts.ensureStarted(id)
    await untilDetails(/it counts as lost in 1 s/)
    assert.equal(await lostAt(), null)
    await pass(1_000)
    await hosts.lookAgain(id)
    await untilDetails(
      /^\*\*lost\*\*: .*: 2 instances begin on other hosts, 0 so far; 1 waits for it because its volume is there/,
    )
    assert.ok(await lostAt())
    await until('all but one are told', () => told.length === 2, soon)
    const atMs = (await lostAt())!.getTime()
    const loss = { nodeId: id, loss: 1, atMs }
    assert.deepEqual(
      told.toSorted((one, other) => Number(one.loss.stays) - Number(other.loss.stays)),
      [
        { uuid: uuids[0], loss: { ...loss, stays: false } },
        { uuid: uuids[2], loss: { ...loss, stays: true } },
      ],
    )
    const { searchAttributes } = await handle().describe()
    assert.deepEqual(searchAttributes[stateAttribute.name], ['lost'])
    await addNode(database, { id: 'h1' })
    await set("update instances set node_id = 'h1' where uuid = $1", uuids[0])
    await untilDetails(/2 instances begin on other hosts, 1 so far/)
    refused.clear()
    await until('the one that is left is told in the next round', () => told.length === 3, soon)
    assert.equal(told[2]?.uuid, uuids[1])
    await beat(0)
    await hosts.lookAgain(id)
    await untilDetails(/^\*\*lost\*\*/)
    await beat(1)
    await hosts.lookAgain(id)
    await handle().result()
    assert.match(
      await details(),
      /^\*\*heard\*\*: .*: it is heard\n\n.*: it counts as lost: 2 without a volume, 1 with one were on it$/,
    )
  }).timeout(120_000)

  it('forgets a host that was removed as lost once what is on it is deleted, without asking it', async () => {
    await beat()
    const [moving, kept] = await create(2)
    const volume = await withVolume(kept!)
    await removeAsLost(database, id)
    await watch.look()
    await hosts.lookAgain(id)
    await untilDetails(
      /1 instance begins on another host, 0 so far; 1 waits for it .*; it is removed, and its row goes/,
    )
    await set('delete from instances where uuid = $1', moving)
    await markDeleted(database, user.uuid, kept!)
    await set('update volumes set deleted_at = now() where uuid = $1', volume)
    await hosts.lookAgain(id)
    await until('both are gone', () => gone.includes(kept!) && gone.includes(volume), soon)
    await delay(3_000)
    assert.ok(await lostAt(), 'its VMs may still run')
    await pass(64_000)
    await hosts.lookAgain(id)
    await handle().result()
    assert.equal(await lostAt(), undefined)
  }).timeout(120_000)

  it('empties the host, says what could not move, and ends when nothing is left', async () => {
    await beat()
    await beat()
    const uuids = await create(9)
    const volume = await withVolume(uuids[8]!)
    await addNode(database, { id: 'h1' })
    await set("update nodes set volume_mb = 7 where id = 'h1'")
    await joinMesh()
    refused.add(uuids[3]!)
    await setUse(database, id, HostUse.Draining)
    await hosts.lookAgain(id)
    const stuck = ['a program runs in it', 'no-volume-room'].map((why) => `(?=.*\\S+ could not move: ${why})`)
    await untilDetails(
      new RegExp(
        `^\\*\\*draining\\*\\*: .*: being emptied since .*: 7 moved away, 2 to move; ${stuck.join('')}`,
      ),
    )
    const hostsOf = async () =>
      new Map(
        (await database.db.selectFrom('instances').select(['uuid', 'nodeId']).execute()).map(
          ({ uuid, nodeId }) => [uuid, nodeId],
        ),
      )
    const where = await hostsOf()
    assert.deepEqual(
      uuids.filter((uuid) => where.get(uuid) === id),
      [uuids[3], uuids[8]],
    )
    refused.clear()
    await set("update nodes set volume_mb = 8 where id = 'h1'")
    await until('all have moved', async () => ![...(await hostsOf()).values()].includes(id), soon)
    assert.equal(await placeOfVolume(database, 'h1', volume), 'here')
    await handle().result()
    assert.match(await details(), /it is empty: the drain is over/)
    const node = (await overlookNodes(database)).find((one) => one.id === id)
    assert.equal(node?.drainingAt, null)
    assert.ok(node?.cordonedAt, 'it stays cordoned')
  }).timeout(120_000)

  it('moves nothing more once the drain is taken back', async () => {
    await beat()
    await beat()
    const uuids = await create(2)
    await addNode(database, { id: 'h1' })
    await joinMesh()
    for (const uuid of uuids) refused.add(uuid)
    await setUse(database, id, HostUse.Draining)
    await hosts.lookAgain(id)
    await untilDetails(/0 moved away, 2 to move; \S+ could not move/)
    await setUse(database, id, HostUse.Cordoned)
    await hosts.lookAgain(id)
    await handle().result()
    assert.equal((await overlookNodes(database)).find((one) => one.id === id)?.instances, 2)
  }).timeout(120_000)
})

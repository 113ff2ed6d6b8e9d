import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { createRoostProgram } from '../../support/roost-program.ts'

describe('moving instances to another host', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  before(async () => {
    api = await startTestApi()
    await addNode(api.database, { id: 'h2' })
    await api.database.db.updateTable('nodes').set({ meshKey: 'first' }).where('id', '=', 'local').execute()
    await api.database.db.updateTable('nodes').set({ meshKey: 'second' }).where('id', '=', 'h2').execute()
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
  })
  after(() => api.close())
  beforeEach(() => {
    resetFaults(api.control)
    api.control.calls.length = 0
  })

  /** Makes an instance on the first host. */
  const make = async (owner: TestUser, more: object = {}) => {
    await admin.api.one('cordonHosts', { object: 'h2' })
    const name = `a-${randomUUID().slice(0, 8)}`
    const { uuid } = await owner.api.one('createInstances', { body: { name, image: 'hello', ...more } })
    await admin.api.one('uncordonHosts', { object: 'h2' })
    return { uuid, name }
  }
  /** Writes what the workflow of its volume records. */
  const setVolumes = async (uuid: string, values: object) =>
    await api.database.db
      .updateTable('volumes')
      .set(values)
      .where('uuid', 'in', (db) => db.selectFrom('instances').select('volumeUuid').where('uuid', '=', uuid))
      .execute()
  const move = async (owner: TestUser, object: string, body: object = {}) =>
    (await owner.api.attempt('moveInstances', { object, body: { host: 'h2', wait_timeout_ms: -1, ...body } }))
      .entries[0]

  it('ends when the instance is there, and changes nothing for one that is there', async () => {
    const { name, uuid } = await make(admin)
    const there = { status: 'success', uuid, name, state: 'stopped', host: 'h2', is_moving: false }
    assert.deepEqual(await move(admin, name), there)
    assert.deepEqual(await move(admin, name), there)
    assert.deepEqual(
      api.control.calls.filter((call) => call.startsWith('move')),
      ['move from local to h2'],
    )
    const explained = await admin.api.one('explainInstances', { object: name })
    assert.equal(explained.placed, 'it is on host h2, to which it moved from host local; it kept its address')
  })

  it('takes its volume along, if the other host has room for it', async () => {
    const { name, uuid } = await make(admin, { volumes: [{ size_mb: 64, at: '/data' }] })
    await setVolumes(uuid, { phase: 'ready', made: true })
    await api.database.db.updateTable('nodes').set({ volumeMb: 63 }).where('id', '=', 'h2').execute()
    assert.partialDeepStrictEqual(await move(admin, name), {
      message: `Instance '${name}' did not move to host 'h2': its volume needs 64 MB, and host h2 has 63 MB left for volumes`,
    })
    await api.database.db.updateTable('nodes').set({ volumeMb: 1_000 }).where('id', '=', 'h2').execute()
    assert.partialDeepStrictEqual(await move(admin, name), { status: 'success', name, host: 'h2' })
    const { nodeId } = await api.database.db
      .selectFrom('volumes')
      .innerJoin('instances', 'instances.volumeUuid', 'volumes.uuid')
      .select('volumes.nodeId')
      .where('instances.uuid', '=', uuid)
      .executeTakeFirstOrThrow()
    assert.equal(nodeId, 'h2')
  })

  it('is for administrators, who name what others own by UUID; others see no hosts', async () => {
    const { name, uuid } = await make(user)
    assert.partialDeepStrictEqual(await move(user, name), {
      status: 'error',
      message: "No host with name 'h2'",
    })
    assert.partialDeepStrictEqual(await move(admin, name), { status: 'error', name })
    assert.partialDeepStrictEqual(await move(admin, uuid), { status: 'success', name, host: 'h2' })
  })

  it('says while it is under way what it does, and that a wait for it was too short', async () => {
    api.control.faults.holdsMoves = true
    const { name } = await make(admin)
    assert.partialDeepStrictEqual(await move(admin, name, { wait_timeout_ms: 0 }), {
      host: 'local',
      is_moving: true,
    })
    assert.partialDeepStrictEqual(await move(admin, name, { wait_timeout_ms: 1 }), {
      message: 'Operation timed out',
    })
    const { text } = await admin.api.one('explainInstances', { object: name })
    assert.match(text, /it is moving from host local to host h2: what it has is fetched, since \S+Z/)
  })

  it('says why the instance did not move, and so does its explanation', async () => {
    api.control.faults.failsMoves = 'its memory is too large'
    const { name } = await make(admin)
    assert.partialDeepStrictEqual(await move(admin, name), {
      message: `Instance '${name}' did not move to host 'h2': its memory is too large`,
    })
    const { text } = await admin.api.one('explainInstances', { object: name })
    assert.match(text, /it did not move from host local to host h2 at \S+Z: its memory is too large/)
  })

  it('is refused with a sentence before the workflow is asked, or by the workflow', async () => {
    const { name } = await make(admin)
    const refused = async (object: string, body: object = {}) => {
      const entry = await move(admin, object, body)
      return entry?.status === 'error' ? entry.message : undefined
    }
    assert.match((await refused(name, { host: 'h9' })) ?? '', /: there is no host h9$/)
    const withVolume = await make(admin, { volumes: [{ size_mb: 64, at: '/data' }] })
    await setVolumes(withVolume.uuid, { phase: 'error' })
    assert.match((await refused(withVolume.name)) ?? '', /: its volume \S+ is error and not ready$/)
    api.control.faults.refusesMoves = 'it is moving to host h3 now'
    assert.match((await refused(name)) ?? '', /: it is moving to host h3 now$/)
  })

  it('is what roost instance move waits for', async () => {
    const roost = await createRoostProgram({ url: api.url, token: admin.token })
    try {
      const { name } = await make(admin)
      api.control.faults.failsMoves = 'its memory is too large'
      const failed = await roost.run(['instance', 'move', name, 'h2'])
      assert.deepEqual(
        [failed.code, failed.err],
        [1, `roost: Instance '${name}' did not move to host 'h2': its memory is too large\n`],
      )
      delete api.control.faults.failsMoves
      const moved = await roost.run(['instance', 'move', name, 'h2'])
      assert.deepEqual([moved.code, moved.out], [0, `${name} is on h2\n`], moved.err)
      api.control.faults.holdsMoves = true
      const begun = await roost.run(['instance', 'move', name, 'local', '--no-wait'])
      assert.deepEqual([begun.code, begun.out], [0, `${name} moves to local\n`])
    } finally {
      await roost.remove()
    }
  })
})

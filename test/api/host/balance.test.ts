import { strict as assert } from 'node:assert'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { createRoostProgram } from '../../support/roost-program.ts'

/** With its VMM, each instance takes a tenth of a host. */
const memoryMb = 936
const hostMb = 10_000

describe('hosts that are to be equally full', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  beforeEach(async () => {
    api = await startTestApi()
    for (const id of ['local', 'h2']) await addNode(api.database, { id, memoryMb: hostMb })
    for (const id of ['local', 'h2'])
      await api.database.db.updateTable('nodes').set({ meshKey: id }).where('id', '=', id).execute()
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
    resetFaults(api.control)
    await admin.api.one('cordonHosts', { object: 'h2' })
    for (const name of ['one', 'two', 'three', 'four'])
      await user.api.one('createInstances', { body: { name, image: 'hello', memory_mb: memoryMb } })
    await admin.api.one('uncordonHosts', { object: 'h2' })
  })
  afterEach(() => api.close())

  const planned = async (path = '/v1/balance', { token } = admin) => {
    const { status, json, text } = await api.send({ path, token })
    assert.equal(status, 200, text)
    return json.data.moves as readonly Record<string, unknown>[]
  }
  const hostsOf = async () => {
    const rows = await api.database.db.selectFrom('instances').select(['name', 'nodeId']).execute()
    return Object.fromEntries(rows.map(({ name, nodeId }) => [name, nodeId]))
  }

  it('get a plan that tells administrators what each move brings, and nothing moves', async () => {
    const moves = await planned()
    assert.deepEqual(
      moves.map(({ from, to }) => ({ from, to })),
      [
        {
          from: { host: 'local', percent_before: 40, percent_after: 30 },
          to: { host: 'h2', percent_before: 0, percent_after: 10 },
        },
        {
          from: { host: 'local', percent_before: 30, percent_after: 20 },
          to: { host: 'h2', percent_before: 10, percent_after: 20 },
        },
      ],
    )
    assert.equal((await planned('/v1/balance?most=1')).length, 1)
    assert.deepEqual(await planned('/v1/balance', user), [])
    assert.deepEqual(new Set(Object.values(await hostsOf())), new Set(['local']))
  })

  it('are asked for at most 100 moves', async () => {
    const { status, text } = await api.send({ path: '/v1/balance?most=101', token: admin.token })
    assert.equal(status, 400)
    assert.match(text, /most.*100/)
  })

  it('take part if they are open and in the mesh, and only with what can move', async () => {
    await admin.api.one('cordonHosts', { object: 'h2' })
    assert.deepEqual(await planned(), [])
    await admin.api.one('uncordonHosts', { object: 'h2' })
    await api.database.db.updateTable('nodes').set({ meshKey: null }).where('id', '=', 'h2').execute()
    assert.deepEqual(await planned(), [])
    await api.database.db.updateTable('nodes').set({ meshKey: 'h2' }).where('id', '=', 'h2').execute()
    await api.database.db.updateTable('instances').set({ state: 'stopping' }).execute()
    assert.deepEqual(await planned(), [])
  })

  it('count an instance that moves at its new host', async () => {
    api.control.faults.holdsMoves = true
    const [first] = await planned()
    const body = { host: 'h2', wait_timeout_ms: 0 }
    await admin.api.one('moveInstances', { object: String(first?.['uuid']), body })
    const next = await planned()
    assert.deepEqual(
      next.map(({ from }) => from),
      [{ host: 'local', percent_before: 30, percent_after: 20 }],
    )
    assert.notEqual(next[0]?.['uuid'], first?.['uuid'])
  })

  it('leave an instance alone whose move failed a moment ago', async () => {
    api.control.faults.failsMoves = 'its memory is too large'
    const [first] = await planned()
    const uuid = String(first?.['uuid'])
    await admin.api.attempt('moveInstances', { object: uuid, body: { host: 'h2', wait_timeout_ms: -1 } })
    const again = await planned()
    assert.equal(again.length, 2)
    assert.ok(again.every((move) => move['uuid'] !== uuid))
  })

  it('are made so by roost host balance, which moves no more than the plan has', async () => {
    const roost = await createRoostProgram({ url: api.url, token: admin.token })
    try {
      const shown = await roost.run(['host', 'balance', '--plan'])
      assert.match(shown.out, /^\w+: from local \(40 % full, then 30 %\) to h2 \(0 % full, then 10 %\)$/m)
      assert.deepEqual(new Set(Object.values(await hostsOf())), new Set(['local']))
      const first = await roost.run(['host', 'balance', '--most', '1'])
      assert.deepEqual([first.code, first.out], [0, '1 moved\n'], first.err)
      assert.match(first.err, /^\w+: moved from local to h2$/m)
      const second = await roost.run(['host', 'balance'])
      assert.deepEqual([second.code, second.out], [0, '1 moved\n'], second.err)
      assert.deepEqual(Object.values(await hostsOf()).toSorted(), ['h2', 'h2', 'local', 'local'])
      const third = await roost.run(['host', 'balance'])
      assert.deepEqual([third.code, third.out], [0, 'no move would make the hosts more equal\n'], third.err)
    } finally {
      await roost.remove()
    }
  })

  it('stay as they are where moves fail, and roost host balance says why', async () => {
    const roost = await createRoostProgram({ url: api.url, token: admin.token })
    try {
      api.control.faults.failsMoves = 'its memory is too large'
      const { code, out, err } = await roost.run(['host', 'balance'])
      assert.deepEqual([code, out], [1, '0 moved\n'], err)
      assert.equal(
        err.match(/^roost: Instance '\w+' did not move to host 'h2': its memory is too large$/gm)?.length,
        2,
      )
    } finally {
      await roost.remove()
    }
  })
})

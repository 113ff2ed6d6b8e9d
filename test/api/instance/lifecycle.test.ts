import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'

const missing = '11111111-1111-4111-8111-111111111111'

describe('starting, stopping, waiting for and deleting instances', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  const make = async (name: string, more: object = {}) =>
    (await user.api.one('createInstances', { body: { image: 'hello', name, ...more } })).uuid
  const stateOf = async (name: string) => (await user.api.one('getInstances', { object: name })).state

  it('reads what it wrote: a start that was answered is what the next request sees', async () => {
    const uuid = await make('a')
    const started = await user.api.one('startInstances', { object: uuid })
    assert.equal(started.previous_state, 'stopped')
    assert.equal(await stateOf('a'), 'running')
    const stopped = await user.api.one('stopInstances', { object: 'a' })
    assert.deepEqual([stopped.uuid, stopped.state, stopped.previous_state], [uuid, 'stopped', 'running'])
    assert.equal(await stateOf(uuid), 'stopped')
  })

  it('does nothing to an instance that runs already, and says so', async () => {
    await make('a', { autostart: true })
    const again = await user.api.one('startInstances', { body: [{ name: 'a' }] })
    assert.deepEqual([again.state, again.previous_state], ['running', 'running'])
  })

  it('waits for a start where asked', async () => {
    await make('a')
    await make('b')
    const started = await user.api.call('startInstances', {
      query: { name: 'a,b' },
      body: { wait_timeout_ms: 5_000 },
    })
    assert.deepEqual(
      started.map(({ name, state, previous_state }) => [name, state, previous_state]),
      [
        ['a', 'running', 'stopped'],
        ['b', 'running', 'stopped'],
      ],
    )
  })

  it('says with state and identifiers that a start took longer than the wait', async () => {
    api.control.faults.holdsStarts = true
    await make('a')
    const answer = await user.api.attempt('startInstances', { body: [{ name: 'a', wait_timeout_ms: 20 }] })
    assert.equal(answer.httpStatus, 200)
    assert.partialDeepStrictEqual(answer.entries, [
      { name: 'a', state: 'starting', error: 12, status: 'error' },
    ])
  })

  it('refuses force together with draining', async () => {
    await make('a')
    for (const drain_timeout_ms of [60, -1]) {
      const answer = await user.api.attempt('stopInstances', {
        body: [{ name: 'a', force: true, drain_timeout_ms }],
      })
      assert.equal(answer.httpStatus, 400)
    }
    await user.api.one('stopInstances', { body: [{ name: 'a', force: true, drain_timeout_ms: 0 }] })
    await user.api.one('stopInstances', { body: [{ name: 'a', force: false, drain_timeout_ms: 60 }] })
  })

  it('passes force on', async () => {
    await make('a', { autostart: true })
    api.control.calls.length = 0
    await user.api.one('stopInstances', { object: 'a', body: { force: true } })
    assert.deepEqual(api.control.calls, ['stop forced'])
    assert.equal((await user.api.one('getInstances', { object: 'a' })).stop_reason, 28)
  })

  it('fails only for the objects whose workflows do not answer, and gives their live quota back', async () => {
    await make('a')
    api.control.faults.isAway = true
    const answer = await user.api.attempt('startInstances', { object: 'a' })
    assert.equal(answer.httpStatus, 200)
    assert.partialDeepStrictEqual(answer.entries, [{ name: 'a', error: 10 }])
    assert.equal((await user.api.one('getQuotas')).used.live_instances, 0)
  })

  describe('wait', () => {
    const forms: readonly [string, object][] = [
      ['one identifier with a timeout', { body: { name: 'a', timeout_ms: 20_000 } }],
      ['ids', { body: { ids: [{ name: 'a', state: 'running' }], timeout_ms: 20_000 } }],
      ['ids without a state', { body: { ids: [{ name: 'a' }] } }],
      ['an array', { body: [{ name: 'a', state: 'running', timeout_ms: 20_000 }] }],
      ['the query', { query: { name: 'a', state: 'running', timeout_ms: '20000' } }],
      ['local scope', { object: 'a', body: { timeout_ms: 20_000 } }],
    ]
    for (const [form, input] of forms) {
      it(`blocks until the state is reached, asked by ${form}`, async () => {
        api.control.faults.holdsStarts = true
        const uuid = await make('a', { autostart: true })
        const waiting = user.api.one('waitInstances', input)
        await api.control.finishStart(uuid)
        assert.partialDeepStrictEqual(await waiting, { status: 'success', name: 'a', state: 'running' })
      })
    }

    it('answers each object by itself, in the order of the request', async () => {
      api.control.faults.holdsStarts = true
      await make('a', { autostart: true })
      await make('b')
      const answer = await user.api.attempt('waitInstances', {
        body: [
          { name: 'a', state: 'running', timeout_ms: 30 },
          { uuid: missing, state: 'stopped', timeout_ms: 30 },
          { name: 'b', state: 'stopped', timeout_ms: 30 },
        ],
      })
      assert.equal(answer.status, 'partial_success')
      assert.deepEqual(
        answer.entries.map((entry) => ('error' in entry ? entry.error : entry.state)),
        [12, 8, 'stopped'],
      )
    })

    it('has the status error and says that it timed out if every object did', async () => {
      await make('a')
      const sent = await api.send({
        token: user.token,
        path: '/v1/instances/wait',
        body: [{ name: 'a', state: 'running', timeout_ms: 1 }],
      })
      assert.equal(sent.json.message, 'Operation timed out')
      assert.equal(sent.json.status, 'error')
      assert.equal(sent.json.data.instances[0].state, 'stopped')
    })

    it('ends when the instance is deleted', async () => {
      const uuid = await make('a')
      const waiting = user.api.attempt('waitInstances', { body: { uuid, timeout_ms: 20_000 } })
      await user.api.one('deleteInstances', { object: uuid })
      assert.partialDeepStrictEqual((await waiting).entries, [{ uuid, error: 8 }])
    })

    it('does not combine its two forms', async () => {
      const answer = await user.api.attempt('waitInstances', { body: { ids: [{ name: 'a' }], name: 'b' } })
      assert.equal(answer.httpStatus, 400)
      assert.equal(answer.errors[0]?.error, 17)
    })
  })

  describe('delete', () => {
    it('makes the identifiers invalid and the name free at once', async () => {
      const uuid = await make('a', { autostart: true })
      const gone = await user.api.one('deleteInstances', { body: [{ name: 'a' }] })
      assert.deepEqual([gone.uuid, gone.name, gone.previous_state], [uuid, 'a', 'running'])
      assert.notEqual(await make('a'), uuid)
      const answer = await user.api.attempt('getInstances', { body: [{ uuid }] })
      assert.partialDeepStrictEqual(answer.entries, [
        { uuid, error: 8, message: `No instance with uuid '${uuid}'` },
      ])
    })

    it('succeeds where workflows do not answer: the sweep cleans up', async () => {
      const uuid = await make('a')
      api.control.faults.isAway = true
      await user.api.one('deleteInstances', { object: 'a' })
      assert.deepEqual(await user.api.call('listInstances'), [])
      const rows = await readRows(api.database, {
        text: 'select uuid from instances where uuid = $1 and deleted_at is not null',
        values: [uuid],
      })
      assert.equal(rows.length, 1)
    })

    it('is done once, however many ask for it at the same time', async () => {
      await make('a')
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => user.api.attempt('deleteInstances', { body: [{ name: 'a' }] })),
      )
      assert.equal(answers.filter((answer) => answer.status === 'success').length, 1)
      assert.ok(answers.every((answer) => answer.httpStatus === 200))
    })
  })
})

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { writeEvents } from '../../../src/db/event/write.ts'
import { revokeToken } from '../../../src/db/account/tokens.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { followEvents } from '../../support/followed-events.ts'
import type { FollowedEvents } from '../../support/followed-events.ts'
import { nobody } from '../../support/least-request.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { until } from '../../support/until.ts'

describe('a stream of events', () => {
  let api: TestApi
  let user: TestUser
  const open: FollowedEvents[] = []
  before(async () => {
    api = await startTestApi({ settings: { streamTimes: { beatMs: 200, slowMs: 500 } } })
  })
  beforeEach(async () => {
    user = await api.addUser()
  })
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close()
  })
  after(() => api.close())

  async function follow(lastEventId?: string | number, query = ''): Promise<FollowedEvents> {
    const stream = await followEvents(`${api.url}/v1/events/stream${query}`, {
      token: user.token,
      ...(lastEventId !== undefined && { lastEventId }),
    })
    open.push(stream)
    return stream
  }

  async function happen(name: string, of: TestUser = user, db = api.database.db): Promise<void> {
    await writeEvents(db, [
      {
        userUuid: of.uuid,
        objectUuid: nobody.uuid,
        objectName: name,
        kind: UserEventKind.InstanceState,
        why: 'the test says so',
        asker: { by: AskerKind.Traffic },
      },
    ])
  }

  const names = (stream: FollowedEvents) => stream.seen.map(({ data }) => data.object.name)

  it('tells what happens from now on, and to nobody but the account', async () => {
    await happen('before')
    const stream = await follow()
    assert.equal(stream.status, 200)
    await happen('another', await api.addUser())
    await happen('one')
    await happen('two')
    const [first] = await stream.atLeast(2)
    assert.deepEqual(names(stream), ['one', 'two'])
    assert.equal(first!.id, String(first!.data.id))
    assert.deepEqual(
      [first!.type, first!.data.kind, first!.data.by.kind],
      ['event', 'instance.state', 'traffic'],
    )
  })

  it('begins with the oldest event that is kept if the last id is 0', async () => {
    await happen('one')
    const stream = await follow(0)
    const [created] = await stream.atLeast(3)
    assert.equal(created!.data.kind, 'account.created')
    assert.deepEqual(names(stream).at(-1), 'one')
  })

  it('goes on after the last id without loss or double', async () => {
    for (let index = 0; index < 1_200; index++) await happen(`n${index}`)
    const whole = await follow(0)
    const all = (await whole.atLeast(1_202)).map(({ id }) => id)
    assert.equal(new Set(all).size, 1_202)
    const at = 700
    const rest = await follow(all[at])
    await rest.atLeast(1_202 - at - 1)
    assert.deepEqual(
      rest.seen.map(({ id }) => id),
      all.slice(at + 1),
    )
  })

  it('tells an event whose transaction commits late after those that came meanwhile, and tells it', async () => {
    const stream = await follow()
    const written = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const late = api.database.db.transaction().execute(async (db) => {
      await happen('late', user, db)
      written.resolve()
      await mayCommit.promise
    })
    await written.promise
    await happen('early')
    // Long enough for the stream to tell what it may tell.
    await setTimeout(500)
    assert.deepEqual(names(stream), [])
    mayCommit.resolve()
    await late
    await stream.atLeast(2)
    assert.deepEqual(names(stream), ['late', 'early'])
  })

  it('tells every event after the newest of the list, even if an older transaction is still open', async () => {
    await happen('listed')
    await settledEvents(api.database)
    const written = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const late = api.database.db.transaction().execute(async (db) => {
      await happen('late', user, db)
      written.resolve()
      await mayCommit.promise
    })
    await written.promise
    await happen('early')
    const [newest] = await user.api.call('listEvents', { query: { count: '1' } })
    assert.equal(newest!.object.name, 'listed')
    const stream = await follow(newest!.id)
    mayCommit.resolve()
    await late
    await stream.atLeast(2)
    assert.deepEqual(names(stream), ['late', 'early'])
  })

  it('says so if events after the last id are not kept any more', async () => {
    await happen('one')
    const stream = await follow(999_999_999)
    const [gap, next] = await stream.atLeast(2)
    assert.equal(gap!.type, 'gap')
    assert.equal(gap!.data.after, 999_999_999)
    assert.equal(gap!.data.goes_on_with, next!.data.id)
    assert.match(gap!.data.message, /not kept any more/)
  })

  it('leaves out what does not pass its filter', async () => {
    const stream = await follow(undefined, '?kind=instance&object=two')
    await happen('one')
    await happen('two')
    await stream.atLeast(1)
    assert.deepEqual(names(stream), ['two'])
  })

  it('ends when its token is revoked', async () => {
    const stream = await follow()
    const token = await api.database.db
      .selectFrom('tokens')
      .select('uuid')
      .where('userUuid', '=', user.uuid)
      .executeTakeFirstOrThrow()
    await revokeToken(api.database, token.uuid)
    await until(
      'the stream has ended',
      async () => {
        await happen('one')
        return stream.ended
      },
      { limitMs: 10_000 },
    )
  })

  it('ends if its client does not receive, and the client resumes', async function () {
    this.timeout(40_000)
    const stream = await follow(0)
    stream.pause()
    const why = 'x'.repeat(400)
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      userUuid: user.uuid,
      objectUuid: nobody.uuid,
      objectName: `n${index}`,
      kind: UserEventKind.InstanceState,
      why,
      asker: { by: AskerKind.Traffic },
    }))
    await writeEvents(api.database.db, many)
    await setTimeout(2_000)
    stream.resume()
    await until('the stream has ended', async () => stream.ended, { limitMs: 10_000 })
    const got = stream.seen.length
    assert.ok(got > 0 && got < many.length, `${got} events came`)
    const rest = await follow(stream.seen.at(-1)!.id)
    await rest.atLeast(many.length + 2 - got)
    const ids = [...stream.seen, ...rest.seen].map(({ id }) => id)
    assert.equal(new Set(ids).size, many.length + 2)
  })
})

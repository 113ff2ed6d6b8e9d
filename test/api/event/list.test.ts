import assert from 'node:assert/strict'
import { writeEvents } from '../../../src/db/event/write.ts'
import { writeImageEvent } from '../../../src/db/image/events.ts'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { maxWhyLength, UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { fakeDigest, startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { settledEvents } from '../../support/settled-events.ts'

const uuids = [
  '11111111-1111-4111-8111-111111111111',
  '22222222-2222-4222-8222-222222222222',
  '33333333-3333-4333-8333-333333333333',
] as const
const hourMs = 3_600_000
const firstMs = Date.parse('2026-03-01T00:00:00Z')

describe('the list of events', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
    // Thirty events, one each hour, of three instances in turn, every other one caused by traffic.
    for (let index = 0; index < 30; index++) {
      await writeEvents(api.database.db, [
        {
          userUuid: user.uuid,
          objectUuid: uuids[index % 3]!,
          objectName: `object-${index % 3}`,
          kind: index % 5 === 0 ? UserEventKind.VolumeState : UserEventKind.InstanceState,
          atMs: firstMs + index * hourMs,
          from: 'running',
          to: 'standby',
          why: `reason ${index}`,
          asker: { by: index % 2 === 0 ? AskerKind.Traffic : AskerKind.Policy },
          facts: { index },
        },
      ])
    }
  })
  after(() => api.close())

  async function list(query: Readonly<Record<string, string>>, { api: of } = user) {
    await settledEvents(api.database)
    return await of.call('listEvents', { query })
  }
  const reasons = async (query: Readonly<Record<string, string>>) => (await list(query)).map(({ why }) => why)
  const numbered = (...indices: readonly number[]) => indices.map((index) => `reason ${index}`)

  it('has the newest first, with everything that is known of each', async () => {
    const [newest, next] = await list({ count: '2' })
    assert.deepEqual(newest, {
      id: newest!.id,
      at: '2026-03-02T05:00:00.000Z',
      kind: 'instance.state',
      object: { type: 'instance', uuid: uuids[2], name: 'object-2' },
      from: 'running',
      to: 'standby',
      why: 'reason 29',
      by: { kind: 'policy' },
      facts: { index: 29 },
    })
    assert.ok(next!.id < newest.id)
  })

  it('has only what passes all filters', async () => {
    assert.deepEqual(await reasons({ kind: 'volume' }), numbered(25, 20, 15, 10, 5, 0))
    assert.deepEqual(await reasons({ kind: 'volume.state', by: 'traffic' }), numbered(20, 10, 0))
    assert.deepEqual(await reasons({ object: 'OBJECT-1', kind: 'volume' }), numbered(25, 10))
    assert.deepEqual(await reasons({ object: uuids[1].toUpperCase(), kind: 'volume' }), numbered(25, 10))
    const since = '2026-03-01T20:00:00Z'
    const until = '2026-03-02T00:00:00+02:00'
    assert.deepEqual(await reasons({ since, until }), numbered(21, 20))
    assert.deepEqual(await reasons({ object: 'nobody' }), [])
  })

  it('is paged in both directions, without loss or double', async () => {
    const whole = await list({ after: '0', count: '1000' })
    assert.deepEqual(
      whole.map(({ id }) => id),
      whole.map(({ id }) => id).toSorted((one, other) => one - other),
    )
    const forward: number[] = [0]
    for (;;) {
      const page = await list({ after: String(forward.at(-1)), count: '7' })
      if (page.length === 0) break
      forward.push(...page.map(({ id }) => id))
    }
    assert.deepEqual(
      forward.slice(1),
      whole.map(({ id }) => id),
    )
    const backward = (await list({ count: '7' })).map(({ id }) => id)
    for (;;) {
      const page = await list({ before: String(backward.at(-1)), count: '7' })
      if (page.length === 0) break
      backward.push(...page.map(({ id }) => id))
    }
    assert.deepEqual(backward.toReversed(), forward.slice(1))
  })

  it('says what to do after an event that is not kept', async () => {
    const answer = await api.send({ path: '/v1/events?after=999999', token: user.token })
    assert.equal(answer.status, 400)
    assert.match(answer.json.message, /no event with id 999999 is kept: .* with 'after' 0$/)
    const other = await api.addUser()
    const [theirs] = await list({}, other)
    const foreign = await api.send({ path: `/v1/events?after=${theirs!.id}`, token: user.token })
    assert.equal(foreign.status, 400, 'the place of another account is none')
  })

  it('refuses what is no time, no kind and no number of events', async () => {
    for (const [query, message] of [
      ['since=yesterday', /'since' in the query: 'yesterday' is no time: expected one such as '2026-/],
      ['until=2026-12-31T23:59:60Z', /'2026-12-31T23:59:60Z' is no time/],
      ['since=2026-02-28', /is no time/],
      ['kind=instances', /'instances'.*instance\.created/],
      ['by=nobody', /'nobody'.*traffic/],
      ['count=0', /1 to 1000|1 and 1000/],
      ['before=-1', /'before'/],
    ] as const) {
      const answer = await api.send({ path: `/v1/events?${query}`, token: user.token })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.message, message)
    }
    for (const since of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
      const answer = await api.send({ path: `/v1/events?since=${since}`, token: user.token })
      assert.equal(answer.status, 200, answer.text)
    }
  })

  it('cuts a reason that is too long', async () => {
    const one = await api.addUser()
    const reason = { why: 'x'.repeat(2_000), asker: { by: AskerKind.Host } } as const
    const object = { userUuid: one.uuid, objectUuid: uuids[0], objectName: 'a' }
    await writeEvents(api.database.db, [{ ...object, ...reason, kind: UserEventKind.VolumeState }])
    const [event] = await list({ count: '1' }, one)
    assert.equal(event!.why.length, maxWhyLength)
  })

  it('has images by their names, which are all that they have', async () => {
    const one = await api.addUser({ name: 'ann' })
    const image = { repository: 'ann/app', digest: fakeDigest }
    await writeImageEvent(api.database, { ...image, kind: 'pushed', reference: 'v1' })
    await writeImageEvent(api.database, { ...image, kind: 'deleted', reference: fakeDigest })
    await writeImageEvent(api.database, {
      ...image,
      repository: 'nobody/app',
      kind: 'pushed',
      reference: 'v1',
    })
    const events = await list({ kind: 'image' }, one)
    assert.deepEqual(
      events.map(({ kind, object }) => [kind, object]),
      [
        ['image.deleted', { type: 'image', name: `ann/app@${fakeDigest}` }],
        ['image.pushed', { type: 'image', name: 'ann/app:v1' }],
      ],
    )
    assert.deepEqual((await list({ object: 'ann/app:v1' }, one)).length, 1)
  })
})

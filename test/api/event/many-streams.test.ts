import assert from 'node:assert/strict'
import { maxStreams } from '../../../src/contract/limits.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { followEvents } from '../../support/followed-events.ts'
import type { FollowedEvents } from '../../support/followed-events.ts'
import { until } from '../../support/until.ts'

describe('as many streams of events as an API process serves', () => {
  let api: TestApi
  const open: FollowedEvents[] = []
  before(async () => {
    api = await startTestApi()
  })
  after(async () => {
    for (const stream of open) stream.close()
    await api.close()
  })

  async function follow({ token }: TestUser): Promise<FollowedEvents> {
    const stream = await followEvents(`${api.url}/v1/events/stream`, { token })
    open.push(stream)
    return stream
  }

  async function followMany(user: TestUser, count: number): Promise<readonly FollowedEvents[]> {
    const streams: FollowedEvents[] = []
    while (streams.length < count) {
      const next = Math.min(50, count - streams.length)
      streams.push(...(await Promise.all(Array.from({ length: next }, () => follow(user)))))
    }
    return streams
  }

  it('all tell an event, leave requests their room, and make room for another account', async function () {
    this.timeout(60_000)
    const [ann, bob] = [await api.addUser(), await api.addUser()]
    const few = 100
    const streams = [...(await followMany(ann, maxStreams - few)), ...(await followMany(bob, few))]
    assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200])

    await ann.api.one('createInstances', { body: { name: 'seen', image: 'hello' } })
    await bob.api.one('createInstances', { body: { name: 'seen', image: 'hello' } })
    for (const stream of streams) await stream.atLeast(1)
    assert.ok(streams.every(({ seen }) => seen.length === 1 && seen[0]!.data.object.name === 'seen'))

    const full = await api.send({ path: '/v1/events/stream', token: ann.token })
    assert.equal(full.status, 429)
    assert.equal(full.json.message, `All ${maxStreams} streams are taken: wait 5 s`)
    assert.ok(full.headers['retry-after'])

    const late = await follow(await api.addUser())
    assert.equal(late.status, 200)
    await until('a stream has ended', async () => streams.some(({ ended }) => ended), { limitMs: 5_000 })
    assert.equal(streams.filter(({ ended }) => ended).length, 1)
    assert.ok(streams.findLastIndex(({ ended }) => ended) < maxStreams - few)
  })
})

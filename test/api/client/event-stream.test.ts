import assert from 'node:assert/strict'
import { ApiFailure } from '../../../src/client/api-failure.ts'
import { followEvents, latestEventId } from '../../../src/client/event-stream.ts'
import type { StreamMessage } from '../../../src/client/event-stream.ts'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { writeEvents } from '../../../src/db/event/write.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { nobody } from '../../support/least-request.ts'
import { startRelay } from '../../support/relay.ts'
import { until } from '../../support/until.ts'

const inTime = { limitMs: 20_000 }
const never = new AbortController().signal

describe('the client of a stream of events', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  beforeEach(async () => {
    user = await api.addUser()
  })
  after(() => api.close())

  async function happen(name: string): Promise<void> {
    await writeEvents(api.database.db, [
      {
        userUuid: user.uuid,
        objectUuid: nobody.uuid,
        objectName: name,
        kind: UserEventKind.InstanceState,
        why: 'the test says so',
        asker: { by: AskerKind.Traffic },
      },
    ])
  }

  /** Follows in the background and collects what comes. */
  function follow(address = api.url, after?: number) {
    const end = new AbortController()
    const came: StreamMessage[] = []
    const asked: string[] = []
    const recordingFetch: typeof fetch = (request) => {
      asked.push((request as Request).url)
      return fetch(request)
    }
    const over = (async () => {
      const stream = followEvents(
        { address, token: user.token, fetch: recordingFetch },
        { signal: end.signal, ...(after === undefined ? {} : { after }) },
      )
      for await (const message of stream) came.push(message)
    })()
    const names = () => came.flatMap((one) => (one.kind === 'event' ? [one.event.object.name] : []))
    return { came, asked, names, over, end: () => end.abort() }
  }

  it('yields the events from an id on, and ends when it is told to', async () => {
    await happen('one')
    const stream = follow(api.url, 0)
    await until('one has come', async () => stream.names().includes('one'), inTime)
    await happen('two')
    await until('two has come', async () => stream.names().at(-1) === 'two', inTime)
    stream.end()
    await stream.over
  })

  it('goes on after the last event when the connection was lost, without loss or double', async () => {
    const { hostname: host, port } = new URL(api.url)
    const relay = await startRelay({ host, port: Number(port) })
    const stream = follow(`http://127.0.0.1:${relay.port}`, 0)
    await happen('one')
    await until('one has come', async () => stream.names().at(-1) === 'one', inTime)
    relay.cut()
    await until('the loss is told', async () => stream.came.some(({ kind }) => kind === 'lost'), inTime)
    await happen('two')
    relay.mend()
    await happen('three')
    await until('three has come', async () => stream.names().at(-1) === 'three', inTime)
    assert.deepEqual(stream.names().slice(-3), ['one', 'two', 'three'])
    stream.end()
    await stream.over
    await relay.close()
  })

  it('knows where it stands before the first event has come', async () => {
    const { hostname: host, port } = new URL(api.url)
    const relay = await startRelay({ host, port: Number(port) })
    await happen('before')
    // An event is read only when all older transactions have ended, those of other databases too.
    const isRead = async () => (await latestEventId({ address: api.url, token: user.token }, never)) > 0
    await until('the event is read', isRead, inTime)
    const stream = follow(`http://127.0.0.1:${relay.port}`)
    await until(
      'the stream is asked for',
      async () => stream.asked.some((url) => url.includes('/stream')),
      inTime,
    )
    relay.cut()
    await until('the loss is told', async () => stream.came.some(({ kind }) => kind === 'lost'), inTime)
    await happen('meanwhile')
    relay.mend()
    await until('it has come', async () => stream.names().at(-1) === 'meanwhile', inTime)
    assert.ok(!stream.names().includes('before'))
    stream.end()
    await stream.over
    await relay.close()
  })

  it('throws what the API refuses', async () => {
    const stream = followEvents(
      { address: api.url, token: 'not-a-token' },
      { signal: new AbortController().signal, after: 0 },
    )
    await assert.rejects(
      stream.next(),
      (error) => error instanceof ApiFailure && error.facts.httpStatus === 401,
    )
  })
})

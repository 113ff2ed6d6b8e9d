import assert from 'node:assert/strict'
import { followLog } from '../../../src/client/log-stream.ts'
import type { LogMessage } from '../../../src/client/log-stream.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { startLogHost } from '../../support/log-host.ts'
import type { LogHost } from '../../support/log-host.ts'
import { startRelay } from '../../support/relay.ts'
import { until } from '../../support/until.ts'

const inTime = { limitMs: 20_000 }

describe('the client of the stream of a log', () => {
  let api: TestApi
  let user: TestUser
  let host: LogHost
  before(async () => {
    api = await startTestApi({ settings: { streamTimes: { beatMs: 300, slowMs: 500 } } })
    user = await api.addUser()
    host = await startLogHost(api)
  })
  after(async () => {
    await api.close()
    await host.close()
  })

  it('goes on at the same byte when the connection was lost, and ends with the instance', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { image: 'hello' } })
    const { hostname, port } = new URL(api.url)
    const relay = await startRelay({ host: hostname, port: Number(port) })
    const access = { address: `http://127.0.0.1:${relay.port}`, token: user.token }
    const came: LogMessage[] = []
    const text = () =>
      came.map((one) => (one.kind === 'log' ? Buffer.from(one.bytes).toString() : '')).join('')
    const has = (expected: string) => until(expected, async () => text() === expected, inTime)
    await host.print(uuid, '012345')
    const signal = new AbortController().signal
    const over = (async () => {
      for await (const message of followLog(access, { object: uuid, offset: -3, signal })) came.push(message)
    })()
    await has('345')
    relay.cut()
    await until('the loss is told', async () => came.some(({ kind }) => kind === 'lost'), inTime)
    await host.print(uuid, '678')
    relay.mend()
    await has('345678')
    await host.print(uuid, '9')
    await has('3456789')
    await user.api.one('deleteInstances', { object: uuid })
    await over
    assert.equal(came.at(-1)?.kind, 'end')
    await relay.close()
  })

  it('throws that there is no such instance', async () => {
    const log = { object: 'nobody', offset: 0, signal: new AbortController().signal }
    const stream = followLog({ address: api.url, token: user.token }, log)
    await assert.rejects(stream.next(), /'nobody'/)
  })
})

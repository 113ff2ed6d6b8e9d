import { strict as assert } from 'node:assert'
import { connectionNewsMs } from '../../../src/contract/limits.ts'
import { RecentlyTold } from '../../../src/api/instance/connect-news.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { ExecClient } from '../../support/exec-client.ts'
import { startExecHost } from '../../support/exec-host.ts'
import type { ExecHost } from '../../support/exec-host.ts'

describe('copies and connections over the API', () => {
  let api: TestApi
  let host: ExecHost
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    host = await startExecHost(api)
    user = await api.addUser()
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
  })
  after(async () => {
    await host.close()
    await api.close()
  })

  const open = async (what: string) => await ExecClient.open(api.url, user.token, `/v1/instances/web/${what}`)

  it('carry the bytes of a connection, and the end of each direction', async () => {
    const client = await open('connect')
    client.tell({ type: 'connect', port: 7 })
    client.input('to and fro')
    client.tell({ type: 'end_of_input' })
    assert.deepEqual(await client.closed(), [1000, ''])
    assert.equal(client.stdout, 'to and fro')
    assert.deepEqual(client.news, [{ type: 'started' }, { type: 'output_ended' }, { type: 'exit', code: 0 }])
  })

  it('are closed with a sentence if a message is not sound, or is for another operation', async () => {
    const port = "'port' must be a whole number from 1 to 65535"
    const path = "'path' must be a text of 1 to 4095 bytes without NUL"
    const wrong = [
      ['connect', '{"type":"connect","port":0}', port],
      ['connect', '{"type":"connect","port":65536}', port],
      ['connect', '{"type":"connect"}', port],
      ['connect', '{"type":"run","argv":["sh"]}', "'connect' comes first, and once"],
      ['exec', '{"type":"connect","port":7}', "'run' comes first, and once"],
      ['exec', '{"type":"pack","path":"/"}', "'run' comes first, and once"],
      ['archive', '{"type":"run","argv":["sh"]}', "'pack' or 'unpack' comes first, and once"],
      ['archive', '{"type":"pack","path":""}', path],
      ['archive', `{"type":"unpack","path":"${'ü'.repeat(2_048)}"}`, path],
      ['archive', '{"type":"pack","path":"/","follow":1}', "'follow' must be true or false"],
      ['archive', '{"type":"unpack","path":"/","owners":1}', "'extract' and 'owners' must be true or false"],
    ] as const
    for (const [what, text, sentence] of wrong) {
      const client = await open(what)
      client.tell(text)
      assert.deepEqual(await client.closed(), [4004, sentence])
    }
  })

  it('are told in an event again only after a time', () => {
    const recent = new RecentlyTold(connectionNewsMs)
    assert.equal(recent.isNews('a', 0), true)
    assert.equal(recent.isNews('a', connectionNewsMs - 1), false)
    assert.equal(recent.isNews('b', connectionNewsMs - 1), true)
    assert.equal(recent.isNews('a', connectionNewsMs), true)
    for (let each = 0; each < 10_000; each++) recent.isNews(String(each), connectionNewsMs)
    assert.equal(recent.isNews('a', connectionNewsMs + 1), true)
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNoServiceServer } from '../../src/gateway/no-service.ts'

describe('a public name without a service', () => {
  let server: Server
  let url: string

  before(async () => {
    server = createNoServiceServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/any/path`
  })

  after(() => server.close())

  it('tells a browser so in HTML, with 404', async () => {
    const answer = await fetch(url, { headers: { Accept: 'text/html,application/json;q=0.9,*/*;q=0.8' } })
    assert.equal(answer.status, 404)
    assert.match(String(answer.headers.get('content-type')), /^text\/html/)
    assert.match(await answer.text(), /There is no service on this URL\./)
  })

  it('tells a program so in JSON', async () => {
    const answer = await fetch(url, { headers: { Accept: 'application/json' } })
    assert.equal(answer.status, 404)
    assert.deepEqual(await answer.json(), { status: 'error', message: 'There is no service on this URL.' })
  })

  it('answers a POST whose body it does not read', async () => {
    const answer = await fetch(url, { method: 'POST', body: 'x'.repeat(100_000) })
    assert.equal(answer.status, 404)
  })
})

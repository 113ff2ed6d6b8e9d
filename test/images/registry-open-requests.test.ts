import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { ClientRequest } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { maxRequestsPerUser } from '../../src/registry/owner/open-requests.ts'
import { pushTestImage } from '../support/oci-image.ts'
import { startOwnedRegistry } from '../support/owned-registry.ts'
import type { OwnedRegistry } from '../support/owned-registry.ts'
import { skopeoCopy } from '../support/skopeo.ts'
import { until } from '../support/until.ts'

const limit = { limitMs: 20_000 }
const layerBytes = 262_144

describe("requests under way at the registry's owner", () => {
  let owned: OwnedRegistry
  const begun: (ClientRequest | Socket)[] = []
  before(async () => {
    owned = await startOwnedRegistry()
  })
  afterEach(async () => {
    for (const one of begun.splice(0)) one.destroy()
    await owned.restart()
  })
  after(() => owned.close())

  const bearer = async (user: string) => `Bearer ${await owned.token(user, `${user}/app`)}`

  async function look(user: string): Promise<Response> {
    const headers = { authorization: await bearer(user) }
    return await fetch(`${owned.url}/v2/${user}/app/tags/list`, { headers })
  }

  const isRefused = async (user: string): Promise<boolean> => (await look(user)).status === 429

  /** Begins an upload whose body is announced and never comes. */
  async function sendSlowly(user: string): Promise<ClientRequest> {
    const authorization = await bearer(user)
    const url = `${owned.url}/v2/${user}/app/blobs/uploads/`
    const answer = await fetch(url, { method: 'POST', headers: { authorization } })
    assert.equal(answer.status, 202, await answer.text())
    const sent = request(new URL(answer.headers.get('location') ?? '', owned.url), {
      method: 'PATCH',
      headers: { authorization, 'content-length': '1000' },
      agent: false,
    })
    sent.on('error', () => undefined)
    sent.flushHeaders()
    begun.push(sent)
    return sent
  }

  it('are bounded for one user: the next one is refused with the figures, and other users are not', async () => {
    const sent: ClientRequest[] = []
    for (let count = 0; count < maxRequestsPerUser; count++) sent.push(await sendSlowly('ann'))
    await until('all are under way', async () => await isRefused('ann'), limit)
    const answer = await look('ann')
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '5'])
    const { errors } = (await answer.json()) as { errors: readonly { code: string; message: string }[] }
    assert.equal(errors[0]?.code, 'TOOMANYREQUESTS')
    assert.match(errors[0].message, /^'ann' has 32 requests under way at the registry, which is the most;/)
    assert.equal((await look('bob')).status, 404)
    sent[0]?.destroy()
    await until('one has ended', async () => !(await isRefused('ann')), limit)
  })

  it('stay below the bound when skopeo pushes four images of many layers at once', async () => {
    const layers = Array.from({ length: 10 }, () => randomBytes(layerBytes))
    await pushTestImage(owned.registry.upload, { repository: 'official/wide', tag: 'v1' }, { layers })
    const from = `docker://${owned.registry.host}/official/wide:v1`
    const copies = [1, 2, 3, 4].map(
      async (count) =>
        await skopeoCopy({ from, to: `docker://${owned.host}/ann/wide${count}:v1`, user: 'ann' }),
    )
    for (const { complaint } of await Promise.all(copies)) assert.equal(complaint, '')
  })

  it('keep their connections when all are in use, while idle connections are closed for new ones', async () => {
    await owned.restart({ maxConnections: 6 })
    const upload = await sendSlowly('ann')
    await until('it is under way', () => upload.socket?.bytesWritten, limit)
    await look('ann')
    const closed: number[] = []
    for (let count = 0; count < 8; count++) {
      const idle = connect(Number(new URL(owned.url).port), '127.0.0.1')
      idle.on('error', () => undefined)
      idle.once('close', () => closed.push(count))
      begun.push(idle)
      await once(idle, 'connect')
    }
    await until('the first ones are closed', () => closed.length >= 3, limit)
    assert.deepEqual(
      closed.toSorted((a, b) => a - b),
      [0, 1, 2],
    )
    assert.equal((await look('bob')).status, 404)
    assert.equal(upload.destroyed, false)
  })

  it('are answered at once if a read announces a body that does not come', async () => {
    const authorization = await bearer('ann')
    for (const method of ['GET', 'HEAD']) {
      const headers = { authorization, 'content-length': '300' }
      const sent = request(`${owned.url}/v2/ann/app/manifests/none`, { method, headers, agent: false })
      sent.on('error', () => undefined)
      begun.push(sent)
      sent.flushHeaders()
      const [answer] = (await once(sent, 'response', { signal: AbortSignal.timeout(5_000) })) as [
        { statusCode: number },
      ]
      assert.equal(answer.statusCode, 404)
      assert.equal((await look('bob')).status, 404)
    }
  })
})

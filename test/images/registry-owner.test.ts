import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { diskReserveBytes } from '../../src/domain/host/disk-reserve.ts'
import type { DiskSize } from '../../src/domain/host/disk-reserve.ts'
import { maxRequestsPerUser } from '../../src/registry/owner/open-requests.ts'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { startOwnedRegistry } from '../support/owned-registry.ts'
import type { OwnedRegistry } from '../support/owned-registry.ts'
import { ociManifest } from '../support/oci-image.ts'
import { skopeoCopy } from '../support/skopeo.ts'

const mb = 1_048_576
const plenty: DiskSize = { freeBytes: 2 ** 40, totalBytes: 2 ** 40 }
/**
 * The storage may take this much beyond a quota: for bytes of a connection in memory, and for directories.
 */
const slackBytes = 2 * mb

describe("the registry's owner", () => {
  let owned: OwnedRegistry
  let disk = plenty
  before(async () => {
    owned = await startOwnedRegistry({ disk: async () => disk })
  })
  after(() => owned.close())
  beforeEach(async () => {
    disk = plenty
    for (const user of ['ann', 'bob']) owned.quotasMb.set(user, 20)
    await rm(path.join(owned.registry.storageDirectory, 'docker'), { recursive: true, force: true })
    await owned.restart()
  })

  const bearer = async (user: string, repository: string) => `Bearer ${await owned.token(user, repository)}`

  /** Begins an upload and returns where its bytes are sent. */
  async function startUpload(user: string, repository: string): Promise<string> {
    const answer = await fetch(`${owned.url}/v2/${repository}/blobs/uploads/`, {
      method: 'POST',
      headers: { authorization: await bearer(user, repository) },
    })
    assert.equal(answer.status, 202, await answer.text())
    return answer.headers.get('location') ?? ''
  }

  interface Answered {
    readonly status: number
    readonly text: string
  }

  /** Sends a body piece by piece and resolves with the answer, whether or not all of it was taken. */
  async function send(
    location: string,
    options: {
      readonly authorization: string
      readonly body: Readable
      readonly headers?: Record<string, string>
    },
  ): Promise<Answered> {
    const { authorization, body, headers } = options
    return await new Promise((resolve, reject) => {
      const sent = request(new URL(location, owned.url), {
        method: 'PATCH',
        headers: { authorization, ...headers },
      })
      sent.once('response', (response) => {
        body.unpipe(sent)
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () => {
          sent.destroy()
          resolve({ status: response.statusCode ?? 0, text })
        })
      })
      sent.on('error', reject)
      if (headers?.['content-length'] === undefined) body.pipe(sent)
      else sent.flushHeaders()
    })
  }

  const endless = () => Readable.from(endlessPieces())

  /**
   * The bytes that the storage takes on disk. `du` may fail for files that go meanwhile, but still tells a
   * sum.
   */
  async function bytesOnDisk(): Promise<number> {
    return await new Promise((resolve) => {
      execFile('du', ['-s', '--block-size=1', owned.registry.storageDirectory], (_, told) =>
        resolve(parseInt(told)),
      )
    })
  }

  async function pushed(
    to: string,
    options: { readonly sizeMb: number; readonly user?: string; readonly seed?: Buffer },
  ) {
    const { sizeMb, user = 'ann', seed } = options
    const layout = await mkdtemp(path.join(tmpdir(), 'roost-layout-'))
    const content = seed ?? randomBytes(sizeMb * mb)
    await writeOciLayout(layout, [{ name: 'app', files: [{ path: 'data', content }], config: { Cmd: [to] } }])
    try {
      return await skopeoCopy({ from: `oci:${layout}:app`, to: `docker://${owned.host}/${to}`, user })
    } finally {
      await rm(layout, { recursive: true })
    }
  }

  it('ends an endless push at the quota, tells why, and keeps nothing of it', async () => {
    const location = await startUpload('ann', 'ann/app')
    const authorization = await bearer('ann', 'ann/app')
    const answer = await send(location, { authorization, body: endless() })
    assert.equal(answer.status, 403)
    const [error] = (JSON.parse(answer.text) as { errors: { code: string; message: string }[] }).errors
    assert.equal(error?.code, 'DENIED')
    assert.match(
      error.message,
      /^Quota 'registry_mb' exceeded: the images of 'ann' would take 21 MiB .* 20 allowed/,
    )
    assert.ok((await bytesOnDisk()) < slackBytes)
    assert.equal((await pushed('ann/app:small', { sizeMb: 10 })).complaint, '')
  })

  it('ends several pushes at once when they together reach the quota', async () => {
    const authorization = await bearer('ann', 'ann/app')
    const locations: string[] = []
    for (let count = 0; count < maxRequestsPerUser; count++)
      locations.push(await startUpload('ann', 'ann/app'))
    let most = 0
    const looks: Promise<unknown>[] = []
    const watch = setInterval(
      () => looks.push(bytesOnDisk().then((bytes) => (most = Math.max(most, bytes)))),
      50,
    )
    const answers = await Promise.all(
      locations.map((location) => send(location, { authorization, body: endless() })),
    )
    clearInterval(watch)
    await Promise.all(looks)
    assert.ok(answers.every(({ status }) => status === 403))
    assert.ok(most > mb)
    assert.ok(most < 20 * mb + slackBytes, `${most} bytes were on disk`)
  })

  it('refuses a push that announces too great a length before its first byte', async () => {
    const location = await startUpload('ann', 'ann/app')
    const authorization = await bearer('ann', 'ann/app')
    const headers = { 'content-length': String(21 * mb) }
    const answer = await send(location, { authorization, body: endless(), headers })
    assert.equal(answer.status, 403)
    assert.ok((await bytesOnDisk()) < slackBytes)
  })

  it('takes pushes of skopeo that fit, and lets skopeo print why another does not', async () => {
    assert.deepEqual(await pushed('ann/app:v1', { sizeMb: 12 }), { ok: true, complaint: '' })
    const { ok, complaint } = await pushed('ann/app:v2', { sizeMb: 12 })
    assert.equal(ok, false)
    assert.match(
      complaint,
      /Quota 'registry_mb' exceeded: the images of 'ann' would take .* 20 allowed; delete/,
    )
  })

  it("does not refuse a user because of another user's quota", async () => {
    assert.equal((await pushed('ann/app:v1', { sizeMb: 19 })).ok, true)
    assert.equal((await pushed('ann/app:v2', { sizeMb: 19 })).ok, false)
    assert.equal((await pushed('bob/app:v1', { sizeMb: 19, user: 'bob' })).ok, true)
  })

  it('counts a layer once per user, in however many repositories it is', async () => {
    const seed = randomBytes(8 * mb)
    for (const name of ['ann/one:v1', 'ann/two:v1', 'ann/three:v1', 'ann/four:v2']) {
      assert.equal((await pushed(name, { sizeMb: 8, seed })).complaint, '')
    }
    assert.equal((await pushed('bob/one:v1', { sizeMb: 8, seed, user: 'bob' })).complaint, '')
    await owned.restart()
    for (const user of ['ann', 'bob']) {
      const used = owned.usage().get(user) ?? 0
      assert.ok(used > 8 * mb && used < 9 * mb, `${user}: ${used}`)
    }
  })

  it('knows after a restart what each user holds, unfinished uploads included', async () => {
    assert.equal((await pushed('ann/app:v1', { sizeMb: 8 })).ok, true)
    const location = await startUpload('ann', 'ann/other')
    const authorization = await bearer('ann', 'ann/other')
    const sent = await send(location, { authorization, body: Readable.from([randomBytes(8 * mb)]) })
    assert.equal(sent.status, 202)
    await owned.restart()
    const used = owned.usage().get('ann') ?? 0
    assert.ok(used > 16 * mb && used < 17 * mb, String(used))
    assert.equal((await pushed('ann/app:v2', { sizeMb: 8 })).ok, false)
  })

  it('counts tags and empty uploads too', async () => {
    owned.quotasMb.set('ann', 1)
    const authorization = await bearer('ann', 'ann/app')
    const start = async () =>
      await fetch(`${owned.url}/v2/ann/app/blobs/uploads/`, { method: 'POST', headers: { authorization } })
    let begun = 0
    while (begun < 1_000 && (await start()).status === 202) begun++
    assert.ok(begun > 3 && begun < 256, String(begun))
  })

  it('is the only way for a user to write: the registry itself refuses their tokens, and still gives them their images', async () => {
    assert.equal((await pushed('ann/app:v1', { sizeMb: 1 })).ok, true)
    const authorization = await bearer('ann', 'ann/app')
    const past = (target: string, method = 'GET') =>
      fetch(`${owned.registry.url}/v2/ann/app/${target}`, {
        method,
        headers: { authorization, accept: ociManifest },
      })
    assert.equal((await past('blobs/uploads/', 'POST')).status, 401)
    assert.equal((await past(`manifests/sha256:${'0'.repeat(64)}`, 'DELETE')).status, 401)
    assert.equal((await past('manifests/v1')).status, 200)
  })

  it('names the public address of the API to clients that came by the public name of the registry', async () => {
    await owned.restart({ metroDomain: 'metro.test' })
    const realmFor = async (host: string) => {
      const sent = request(`${owned.url}/v2/`, { headers: { host } }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return /realm="([^"]*)"/.exec(String(answer.headers['www-authenticate']))?.[1]
    }
    assert.equal(await realmFor('registry.metro.test'), 'https://api.metro.test/registry/token')
    assert.equal(await realmFor('Registry.Metro.test:7443'), 'https://api.metro.test:7443/registry/token')
    for (const host of [owned.host, 'registry.elsewhere.test'])
      assert.equal(await realmFor(host), owned.registry.tokenUrl)
    await owned.restart()
    assert.equal(await realmFor('registry.metro.test'), owned.registry.tokenUrl)
  })

  it("lets no token use up another user's quota", async () => {
    const location = await startUpload('ann', 'ann/app')
    for (const authorization of [
      'Bearer no.valid.token',
      await bearer('bob', 'ann/app'),
      'Basic YW5uOmJvYg==',
      '',
    ]) {
      const headers = { 'content-length': String(19 * mb) }
      const answer = await send(location, { authorization, body: endless(), headers })
      assert.equal(answer.status, 401, authorization)
    }
    assert.equal((await pushed('ann/app:v1', { sizeMb: 19 })).complaint, '')
  })

  it('leaves the reserve of its disk free, as large as that of a host', async () => {
    for (const totalBytes of [2 ** 40, 80 * mb]) {
      const freeBytes = diskReserveBytes(totalBytes) + mb
      disk = { freeBytes, totalBytes }
      await owned.restart()
      const { complaint } = await pushed('ann/app:large', { sizeMb: 2 })
      assert.match(complaint, /the disk of the registry is nearly full/)
      disk = { freeBytes: freeBytes + 2 * mb, totalBytes }
      await owned.restart()
      assert.equal((await pushed(`ann/app:small-${totalBytes}`, { sizeMb: 2 })).complaint, '')
    }
  })

  it('gives back what an aborted push had announced', async () => {
    const location = await startUpload('ann', 'ann/app')
    const authorization = await bearer('ann', 'ann/app')
    const headers = { authorization, 'content-length': String(19 * mb) }
    const sent = request(new URL(location, owned.url), { method: 'PATCH', headers })
    sent.on('error', () => undefined)
    await new Promise((resolve) => sent.write(randomBytes(mb), resolve))
    sent.destroy()
    const deadline = Date.now() + 10_000
    let taken = false
    while (!taken && Date.now() < deadline) taken = (await pushed('ann/app:v1', { sizeMb: 15 })).ok
    assert.equal(taken, true)
  })
})

function* endlessPieces() {
  const piece = randomBytes(65_536)
  for (;;) yield piece
}

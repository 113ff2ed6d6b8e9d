import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { maxDiscardedBytes } from '../../src/registry/owner/unread-body.ts'
import { startOwnedRegistry } from '../support/owned-registry.ts'
import type { OwnedRegistry } from '../support/owned-registry.ts'

const mb = 1_048_576
/** The most that all buffers between client and owner hold: those of the kernel and those of streams. */
const buffersBytes = 32 * mb

describe("an answer of the registry's owner to a client that still sends", () => {
  let owned: OwnedRegistry
  let authorization = ''
  before(async () => {
    owned = await startOwnedRegistry()
    owned.quotasMb.set('ann', 4)
    authorization = `Bearer ${await owned.token('ann', 'ann/app')}`
  })
  after(() => owned.close())

  async function startUpload(): Promise<string> {
    const url = `${owned.url}/v2/ann/app/blobs/uploads/`
    const answer = await fetch(url, { method: 'POST', headers: { authorization } })
    assert.equal(answer.status, 202, await answer.text())
    return (answer.headers.get('location') ?? '').replace(owned.url, '')
  }

  /** Sends as a client that reads the answer only after it has sent everything, or as much as is accepted. */
  async function sendAll(
    target: string,
    options: { readonly method?: string; readonly sizeMb: number; readonly connection: string },
  ): Promise<{ readonly text: string; readonly sentBytes: number }> {
    const { method = 'PATCH', sizeMb, connection } = options
    const socket = connect(Number(new URL(owned.url).port), '127.0.0.1')
    const failed = once(socket, 'close').then(() => Promise.reject(new Error('the connection was closed')))
    failed.catch(() => undefined)
    socket.on('error', (error) => socket.destroy(error))
    const head = [
      `${method} ${target} HTTP/1.1`,
      'host: registry',
      `authorization: ${authorization}`,
      `connection: ${connection}`,
      `content-length: ${sizeMb * mb}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const piece = Buffer.alloc(mb)
    let sentBytes = 0
    const isTaken = async () =>
      await Promise.race([once(socket, 'drain').then(() => true), failed, silence().then(() => false)])
    while (sentBytes < sizeMb * mb) {
      const goesOn = socket.write(piece)
      sentBytes += piece.length
      if (!goesOn && !(await isTaken())) break
    }
    const [text] = (await Promise.race([once(socket, 'data'), failed])) as [Buffer]
    socket.destroy()
    return { text: text.toString(), sentBytes }
  }

  for (const connection of ['keep-alive', 'close']) {
    it(`can be read after everything was sent (connection: ${connection})`, async () => {
      for (let round = 0; round < 5; round++) {
        const { text } = await sendAll(await startUpload(), { sizeMb: 40, connection })
        assert.match(text, /^HTTP\/1.1 403 [^]*Quota 'registry_mb' exceeded/)
      }
      const manifest = { method: 'PUT', sizeMb: 24, connection }
      const { text } = await sendAll('/v2/ann/app/manifests/v1', manifest)
      assert.match(text, /^HTTP\/1.1 400 [^]*the manifest is larger than 4194304 bytes/)
    })
  }

  it('reaches a client that goes on sending, and not more than `maxDiscardedBytes` of it are read', async () => {
    const sizeMb = 1_024
    const { text, sentBytes } = await sendAll(await startUpload(), { sizeMb, connection: 'close' })
    assert.match(text, /^HTTP\/1.1 403 /)
    assert.ok(sentBytes >= maxDiscardedBytes && sentBytes < maxDiscardedBytes + buffersBytes, `${sentBytes}`)
  })
})

/**
 * Waits for 1 s. An owner that still reads takes a piece in less time; if it took none, it has stopped
 * reading.
 */
async function silence(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
}

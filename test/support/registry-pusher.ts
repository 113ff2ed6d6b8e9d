import { digestOf } from '../../src/registry/verified-stream.ts'
import { ociIndex, ociManifest } from './oci-image.ts'

/** Pushes step by step, like a client, so that a test can act between any two steps. */
export interface Pusher {
  /** Undefined if the registry did not accept a step; a client pushes again then. */
  image(to: { repository: string; reference?: string }, blobs: readonly Buffer[]): Promise<Pushed | undefined>
  index(to: { repository: string; reference: string }, images: readonly Pushed[]): Promise<Pushed | undefined>
  delete(repository: string, reference: string): Promise<number>
  /** The parts of an image or index that the registry does not have. Empty if it has all of them. */
  missing(repository: string, reference: string): Promise<readonly string[]>
}

export interface Pushed {
  readonly digest: string
  readonly size: number
}

interface Call {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer>
}

const accept = `${ociManifest}, ${ociIndex}`

export function createPusher(options: {
  readonly url: string
  readonly token: (repository: string) => Promise<string>
  readonly between: () => Promise<void>
}): Pusher {
  const { between } = options

  async function call(repository: string, target: string, init: Call = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${await options.token(repository)}`, accept, ...init.headers }
    const url = target.startsWith('/') ? target : `/v2/${repository}/${target}`
    return await fetch(`${options.url}${url}`, { ...init, headers })
  }

  async function blob(repository: string, bytes: Buffer): Promise<boolean> {
    const digest = digestOf(bytes)
    const there = await call(repository, `blobs/${digest}`, { method: 'HEAD' })
    await between()
    if (there.status === 200) return true
    const begun = await call(repository, 'blobs/uploads/', { method: 'POST' })
    await begun.arrayBuffer()
    await between()
    const location = begun.headers.get('location')
    if (location === null) return false
    const sent = await call(repository, location.replace(options.url, ''), {
      method: 'PATCH',
      body: new Uint8Array(bytes),
    })
    await sent.arrayBuffer()
    await between()
    const next = sent.headers.get('location')
    if (next === null) return false
    const ended = await call(repository, `${next}&digest=${digest}`, { method: 'PUT' })
    await ended.arrayBuffer()
    await between()
    return ended.status === 201
  }

  async function manifest(
    to: { repository: string; reference?: string },
    mediaType: string,
    content: object,
  ): Promise<Pushed | undefined> {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, ...content }))
    const digest = digestOf(bytes)
    const put = await call(to.repository, `manifests/${to.reference ?? digest}`, {
      method: 'PUT',
      headers: { 'content-type': mediaType },
      body: new Uint8Array(bytes),
    })
    await put.arrayBuffer()
    return put.status === 201 ? { digest, size: bytes.length } : undefined
  }

  async function missing(repository: string, reference: string): Promise<readonly string[]> {
    const response = await call(repository, `manifests/${reference}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200) return [`${repository}:${reference} ${response.status}`]
    const {
      config,
      layers = [],
      manifests = [],
    } = JSON.parse(bytes.toString()) as {
      config?: Pushed
      layers?: Pushed[]
      manifests?: Pushed[]
    }
    const lost: string[] = []
    for (const child of manifests) lost.push(...(await missing(repository, child.digest)))
    for (const { digest } of config ? [config, ...layers] : layers) {
      const got = await call(repository, `blobs/${digest}`)
      const content = Buffer.from(await got.arrayBuffer())
      if (got.status !== 200 || digestOf(content) !== digest)
        lost.push(`${repository} ${digest} ${got.status}`)
    }
    return lost
  }

  return {
    missing,
    async image(to, blobs) {
      for (const bytes of blobs) if (!(await blob(to.repository, bytes))) return undefined
      const [config, ...layers] = blobs.map((bytes) => ({
        mediaType: 'application/vnd.oci.image.layer.v1.tar',
        digest: digestOf(bytes),
        size: bytes.length,
      }))
      return await manifest(to, ociManifest, {
        config: { ...config, mediaType: 'application/vnd.oci.image.config.v1+json' },
        layers,
      })
    },
    index: (to, images) =>
      manifest(to, ociIndex, {
        manifests: images.map(({ digest, size }) => ({
          mediaType: ociManifest,
          digest,
          size,
          platform: { os: 'linux', architecture: 'amd64' },
        })),
      }),
    async delete(repository, reference) {
      const answer = await call(repository, `manifests/${reference}`, { method: 'DELETE' })
      await answer.arrayBuffer()
      return answer.status
    },
  }
}

import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Header } from 'tar-stream'
import { digestOf } from '../../src/registry/verified-stream.ts'
import type { RegistryUpload } from '../../src/registry/registry-upload.ts'

/** One member of a layer: a header of tar-stream, and the content. */
export type LayerMember = Partial<Header> & { readonly name: string } & { readonly content?: string | Buffer }

export async function tarLayer(members: readonly LayerMember[]): Promise<Buffer> {
  const archive = pack()
  for (const { content, ...header } of members)
    archive.entry({ mtime: new Date(0), ...header }, content ?? '')
  archive.finalize()
  const chunks: Buffer[] = []
  return await new Promise((resolve, reject) => {
    archive.on('data', (chunk) => {
      if (Buffer.isBuffer(chunk)) chunks.push(chunk)
    })
    archive.on('error', reject)
    archive.on('end', () => resolve(Buffer.concat(chunks)))
  })
}

export interface TestImage {
  readonly layers: readonly Buffer[]
  readonly config?: Record<string, unknown>
  readonly platform?: { readonly os: string; readonly architecture: string }
  readonly layerAnnotations?: readonly (Record<string, string> | undefined)[]
}

export const ociManifest = 'application/vnd.oci.image.manifest.v1+json'
export const ociIndex = 'application/vnd.oci.image.index.v1+json'

/**
 * Pushes an image and returns the digest of its manifest. Layers are pushed as they are; gzip them before if
 * that matters.
 */
export async function pushTestImage(
  upload: RegistryUpload,
  reference: { readonly repository: string; readonly tag?: string },
  image: TestImage,
): Promise<string> {
  const { repository } = reference
  const platform = image.platform ?? { os: 'linux', architecture: 'amd64' }
  const config = Buffer.from(JSON.stringify({ ...platform, config: image.config ?? {} }))
  const layers = image.layers.map((bytes, index) => ({
    mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
    digest: digestOf(bytes),
    size: bytes.length,
    ...(image.layerAnnotations?.[index] ? { annotations: image.layerAnnotations[index] } : {}),
  }))
  for (const bytes of [config, ...image.layers]) {
    await upload.blob(repository, { digest: digestOf(bytes), size: bytes.length }, () => bytes)
  }
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: ociManifest,
      config: {
        mediaType: 'application/vnd.oci.image.config.v1+json',
        digest: digestOf(config),
        size: config.length,
      },
      layers,
    }),
  )
  const digest = digestOf(manifest)
  await upload.manifest(repository, reference.tag ?? digest, { mediaType: ociManifest, bytes: manifest })
  return digest
}

export async function gzipLayer(members: readonly LayerMember[]): Promise<Buffer> {
  return gzipSync(await tarLayer(members))
}

import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** A file of a layer. All files belong to root and have the same time, so that repeated builds are equal. */
export interface SampleFile {
  readonly path: string
  readonly mode?: number
  readonly content?: Buffer
  readonly linkTarget?: string
}

export interface SampleImage {
  /** The image's name and tag, such as `hello:latest`. */
  readonly name: string
  readonly files: readonly SampleFile[]
  readonly config: Readonly<Record<string, unknown>>
}

/** Writes images as an OCI layout into an empty directory. */
export async function writeOciLayout(directory: string, images: readonly SampleImage[]): Promise<void> {
  await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true })

  async function blob(mediaType: string, bytes: Buffer) {
    const hex = createHash('sha256').update(bytes).digest('hex')
    await writeFile(join(directory, 'blobs', 'sha256', hex), bytes)
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length }
  }

  async function manifestOf(image: SampleImage) {
    const layer = await layerOf(image.files)
    const config = {
      os: 'linux',
      architecture: 'amd64',
      config: image.config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
    }
    const manifest = {
      schemaVersion: 2,
      mediaType: manifestType,
      config: await blob('application/vnd.oci.image.config.v1+json', json(config)),
      layers: [await blob('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(layer))],
    }
    const descriptor = await blob(manifestType, json(manifest))
    return { ...descriptor, annotations: { 'org.opencontainers.image.ref.name': image.name } }
  }

  const manifests = []
  for (const image of images) manifests.push(await manifestOf(image))
  await writeFile(join(directory, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  const mediaType = 'application/vnd.oci.image.index.v1+json'
  await writeFile(join(directory, 'index.json'), json({ schemaVersion: 2, mediaType, manifests }))
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json'

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

async function layerOf(files: readonly SampleFile[]): Promise<Buffer> {
  const archive = pack()
  for (const file of files) {
    const common = { name: file.path, mode: file.mode ?? 0o755, mtime: new Date(0) }
    if (file.linkTarget !== undefined)
      archive.entry({ ...common, type: 'symlink', linkname: file.linkTarget })
    else if (file.content) archive.entry({ ...common, type: 'file' }, file.content)
    else archive.entry({ ...common, type: 'directory' })
  }
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

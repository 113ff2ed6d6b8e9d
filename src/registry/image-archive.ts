import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { parseJson } from '../domain/json-text.ts'
import { openArchiveFiles } from './archive-files.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { chooseEntry, indexMediaTypes, manifestMediaTypes, parseManifest } from './oci-manifest.ts'
import type { Descriptor, ImageManifest } from './oci-manifest.ts'
import { digestOf } from './verified-stream.ts'

/** Images that were saved to disk: an OCI layout (directory or archive) or what `docker save` writes. */
export interface ImageArchive {
  /** The names of the images in the archive. An image without a name is an empty string. */
  readonly names: readonly string[]
  /** Reads one image, for linux/amd64. The name may be left out if there is only one image. */
  image(name?: string): Promise<ArchivedImage>
}

export interface ArchivedImage {
  readonly manifest: { readonly mediaType: string; readonly bytes: Buffer; readonly digest: string }
  readonly blobs: readonly ArchivedBlob[]
}

export interface ArchivedBlob {
  readonly digest: string
  readonly size: number
  open(): Readable | Buffer
}

/** The archive lacks a part, or a part is malformed. The message names the part. */
export class ImageArchiveError extends Error {
  override readonly name = 'ImageArchiveError'
}

const maxDocumentBytes = 8 * 1024 * 1024
const refNameAnnotation = 'org.opencontainers.image.ref.name'
const containerdNameAnnotation = 'io.containerd.image.name'

export async function openImageArchive(path: string): Promise<ImageArchive> {
  const files = await openArchiveFiles(path)
  const index = await readFile(files, 'index.json')
  if (index) return ociLayout(files, index)
  const manifest = await readFile(files, 'manifest.json')
  if (manifest) return dockerArchive(files, manifest)
  throw new ImageArchiveError(`${path} is neither an OCI layout nor an archive of 'docker save'`)
}

function ociLayout(files: ArchiveFiles, bytes: Buffer): ImageArchive {
  const index = parseManifest(bytes)
  if (index.kind !== 'index') throw new ImageArchiveError('index.json of the archive is not an image index')
  const named = index.entries.map((entry) => ({
    entry,
    name: entry.annotations[containerdNameAnnotation] ?? entry.annotations[refNameAnnotation] ?? '',
  }))
  return {
    names: named.map(({ name }) => name),
    image: (name) => ociImage(files, choose(named, name).entry),
  }
}

async function ociImage(files: ArchiveFiles, descriptor: Descriptor): Promise<ArchivedImage> {
  const bytes = await readFile(files, blobPath(descriptor.digest))
  if (!bytes || digestOf(bytes) !== descriptor.digest) {
    throw new ImageArchiveError(`the manifest ${descriptor.digest} is missing in the archive, or damaged`)
  }
  const manifest = parseManifest(bytes)
  if (manifest.kind === 'index') {
    const entry = chooseEntry(manifest)
    if (!entry) throw new ImageArchiveError('the archive has no variant of the image for linux/amd64')
    return await ociImage(files, entry)
  }
  const mediaTypes: readonly string[] = [...manifestMediaTypes, ...indexMediaTypes]
  return {
    manifest: {
      mediaType: mediaTypes.find((type) => type === descriptor.mediaType) ?? manifestMediaTypes[0],
      bytes,
      digest: descriptor.digest,
    },
    blobs: blobsOf(manifest).map(({ digest, size }) => ({
      digest,
      size,
      open: () => files.stream(blobPath(digest)),
    })),
  }
}

function blobsOf(manifest: ImageManifest): readonly Descriptor[] {
  return [manifest.config, ...manifest.layers]
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}

interface DockerEntry {
  readonly config: string
  readonly layers: readonly string[]
  readonly name: string
}

function dockerArchive(files: ArchiveFiles, bytes: Buffer): ImageArchive {
  const json = parseJson(bytes.toString('utf8'))
  if (!Array.isArray(json)) throw new ImageArchiveError('manifest.json of the archive is no list of images')
  const entries = json.map((entry) => dockerEntry(entry))
  return {
    names: entries.map(({ name }) => name),
    image: (name) => dockerImage(files, choose(entries, name)),
  }
}

function dockerEntry(entry: unknown): DockerEntry {
  const field = (key: string): unknown =>
    typeof entry === 'object' && entry !== null ? Reflect.get(entry, key) : undefined
  const config = field('Config')
  const layers = strings(field('Layers'))
  if (typeof config !== 'string')
    throw new ImageArchiveError('manifest.json of the archive names no configuration')
  return { config, layers, name: strings(field('RepoTags'))[0] ?? '' }
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

/** Docker saves layers unpacked and without a manifest, so a manifest is written for them here. */
async function dockerImage(files: ArchiveFiles, entry: DockerEntry): Promise<ArchivedImage> {
  const config = await readFile(files, entry.config)
  if (!config) throw new ImageArchiveError(`${entry.config} is missing in the archive`)
  const layers: ArchivedBlob[] = []
  for (const name of entry.layers) layers.push(await describeFile(files, name))
  const configBlob = { digest: digestOf(config), size: config.length, open: () => config }
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestMediaTypes[0],
      config: descriptorOf(configBlob, 'application/vnd.oci.image.config.v1+json'),
      layers: layers.map((layer) => descriptorOf(layer, 'application/vnd.oci.image.layer.v1.tar')),
    }),
  )
  return {
    manifest: { mediaType: manifestMediaTypes[0], bytes, digest: digestOf(bytes) },
    blobs: [configBlob, ...layers],
  }
}

function descriptorOf({ digest, size }: ArchivedBlob, mediaType: string) {
  return { mediaType, digest, size }
}

async function describeFile(files: ArchiveFiles, name: string): Promise<ArchivedBlob> {
  const size = await files.size(name)
  if (size === undefined) throw new ImageArchiveError(`${name} is missing in the archive`)
  const hash = createHash('sha256')
  const chunks: AsyncIterable<Buffer> = files.stream(name)
  for await (const chunk of chunks) hash.update(chunk)
  return { digest: `sha256:${hash.digest('hex')}`, size, open: () => files.stream(name) }
}

async function readFile(files: ArchiveFiles, name: string): Promise<Buffer | undefined> {
  const size = await files.size(name)
  if (size === undefined) return undefined
  if (size > maxDocumentBytes) throw new ImageArchiveError(`${name} is over ${maxDocumentBytes} bytes`)
  const parts: Buffer[] = []
  const chunks: AsyncIterable<Buffer> = files.stream(name)
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function choose<T extends { readonly name: string }>(images: readonly T[], name: string | undefined): T {
  const matching = name === undefined ? images : images.filter((image) => image.name === name)
  const [image, ...others] = matching
  if (image && others.length === 0) return image
  const names = images.map((image) => image.name).join(', ')
  throw new ImageArchiveError(
    image
      ? `the archive holds several images (${names}): name one`
      : `the archive does not hold '${name}' (${names})`,
  )
}

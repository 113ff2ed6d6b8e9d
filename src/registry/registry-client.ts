import { isImageDigest } from '../domain/image/reference.ts'
import {
  acceptedMediaTypes,
  chooseEntry,
  MalformedImageError,
  parseImageConfig,
  parseManifest,
  runsHere,
} from './oci-manifest.ts'
import type { Descriptor, ImageConfig, ImageManifest } from './oci-manifest.ts'
import { RegistryError, RegistryFailure } from './registry-error.ts'
import { discard, readBody, readChunks } from './registry-http.ts'
import type { RegistryHttp } from './registry-http.ts'
import { listRepositories, listTags } from './registry-lists.ts'
import { digestOf, verified, verifyDigest } from './verified-stream.ts'

/**
 * Reads images of one registry. Content is verified against its digest before it is returned or its stream
 * ends.
 */
export interface RegistryClient {
  /** Returns the digest to which a tag or digest points now, or undefined if it is unknown. Never cached. */
  digestOf(repository: string, tagOrDigest: string, signal?: AbortSignal): Promise<string | undefined>
  /**
   * The image of a digest for this platform. If the digest is that of an index, an image of the index is
   * chosen. Throws if there is none.
   */
  image(repository: string, digest: string, signal?: AbortSignal): Promise<RegistryImage>
  /**
   * Returns a blob as a stream. The stream throws at its end unless the size and the digest are those of the
   * descriptor.
   */
  blob(repository: string, descriptor: Descriptor, signal?: AbortSignal): AsyncIterable<Buffer>
  /** Returns at most `maxTags` tags, or none if the repository is unknown. */
  tags(repository: string, signal?: AbortSignal): Promise<readonly string[]>
  /** Returns the repositories below `<namespace>/`, at most `maxRepositories`. */
  repositories(namespace: string, signal?: AbortSignal): Promise<readonly string[]>
}

export interface RegistryImage {
  /** The digest that the caller asked for. It may be the digest of an index. */
  readonly digest: string
  readonly manifest: ImageManifest
  readonly config: ImageConfig
}

/** The most bytes of a manifest. Distribution (the registry's program) itself refuses larger ones. */
const maxManifestBytes = 4 * 1024 * 1024
const maxConfigBytes = 4 * 1024 * 1024

export function createRegistryClient(http: RegistryHttp): RegistryClient {
  async function manifestBytes(repository: string, digest: string, signal?: AbortSignal): Promise<Buffer> {
    const response = await http.send({
      method: 'GET',
      path: `/v2/${repository}/manifests/${digest}`,
      repository,
      headers: { accept: acceptedMediaTypes },
      signal,
    })
    await expectFound(response, `'${repository}@${digest}'`)
    const bytes = await readBody(response, maxManifestBytes, `the manifest of '${repository}'`)
    verifyDigest(bytes, digest)
    return bytes
  }

  async function* blob(repository: string, descriptor: Descriptor, signal?: AbortSignal) {
    const response = await http.send({
      method: 'GET',
      path: `/v2/${repository}/blobs/${descriptor.digest}`,
      repository,
      signal,
    })
    await expectFound(response, `blob ${descriptor.digest} of '${repository}'`)
    yield* verified(readChunks(response), descriptor)
  }

  async function config(
    repository: string,
    manifest: ImageManifest,
    signal?: AbortSignal,
  ): Promise<ImageConfig> {
    if (manifest.config.size > maxConfigBytes) {
      throw new MalformedImageError(`the configuration of the image is larger than ${maxConfigBytes} bytes`)
    }
    const chunks: Buffer[] = []
    for await (const chunk of blob(repository, manifest.config, signal)) chunks.push(chunk)
    return parseImageConfig(Buffer.concat(chunks))
  }

  return {
    blob,
    async digestOf(repository, tagOrDigest, signal) {
      const response = await http.send({
        method: 'HEAD',
        path: `/v2/${repository}/manifests/${tagOrDigest}`,
        repository,
        headers: { accept: acceptedMediaTypes },
        signal,
      })
      await discard(response)
      if (response.statusCode !== 200) return undefined
      const digest = response.headers['docker-content-digest']
      return typeof digest === 'string' && isImageDigest(digest)
        ? digest
        : await digestByContent(http, { repository, tag: tagOrDigest, signal })
    },
    async image(repository, digest, signal) {
      const found = parseManifest(await manifestBytes(repository, digest, signal))
      if (found.kind === 'manifest') {
        const read = await config(repository, found, signal)
        if (!runsHere(read)) throw wrongPlatform(repository)
        return { digest, manifest: found, config: read }
      }
      const entry = chooseEntry(found)
      if (!entry) throw wrongPlatform(repository)
      const manifest = parseManifest(await manifestBytes(repository, entry.digest, signal))
      if (manifest.kind !== 'manifest') throw new MalformedImageError('the index of the image holds an index')
      return { digest, manifest, config: await config(repository, manifest, signal) }
    },
    tags: (repository, signal) => listTags(http, repository, signal),
    repositories: (namespace, signal) => listRepositories(http, namespace, signal),
  }
}

function wrongPlatform(repository: string): MalformedImageError {
  return new MalformedImageError(`the image '${repository}' has no variant for linux/amd64`)
}

async function expectFound(response: Awaited<ReturnType<RegistryHttp['send']>>, what: string): Promise<void> {
  if (response.statusCode === 200) return
  await discard(response)
  throw new RegistryError(RegistryFailure.NotFound, `${what} is not in the registry`)
}

/** Computes the digest from the content, for registries that do not name the digest in their answer. */
async function digestByContent(
  http: RegistryHttp,
  what: { repository: string; tag: string; signal: AbortSignal | undefined },
): Promise<string | undefined> {
  const response = await http.send({
    method: 'GET',
    path: `/v2/${what.repository}/manifests/${what.tag}`,
    repository: what.repository,
    headers: { accept: acceptedMediaTypes },
    signal: what.signal,
  })
  await expectFound(response, `'${what.repository}:${what.tag}'`)
  return digestOf(await readBody(response, maxManifestBytes, `the manifest of '${what.repository}'`))
}

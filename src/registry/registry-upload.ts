import type { Readable } from 'node:stream'
import { RegistryError, RegistryFailure } from './registry-error.ts'
import { discard, readBody } from './registry-http.ts'
import type { RegistryHttp } from './registry-http.ts'

/** Writes images to a registry: blobs first, then the manifest that names them. Calls may be repeated. */
export interface RegistryUpload {
  hasBlob(repository: string, digest: string): Promise<boolean>
  /** Sends a blob unless the registry has it. The registry verifies the digest. */
  blob(
    repository: string,
    blob: { readonly digest: string; readonly size: number },
    content: () => Readable | Buffer,
  ): Promise<void>
  /** Puts a manifest or an index under a tag, or under its own digest. */
  manifest(
    repository: string,
    tagOrDigest: string,
    manifest: { readonly mediaType: string; readonly bytes: Buffer },
  ): Promise<void>
}

/** The most bytes of the registry's error message that are read. */
const maxComplaintBytes = 16_384

export function createRegistryUpload(http: RegistryHttp): RegistryUpload {
  async function hasBlob(repository: string, digest: string): Promise<boolean> {
    const path = `/v2/${repository}/blobs/${digest}`
    const response = await http.send({ method: 'HEAD', path, repository })
    await discard(response)
    return response.statusCode === 200
  }

  return {
    hasBlob,
    async blob(repository, { digest, size }, content) {
      if (await hasBlob(repository, digest)) return
      const path = await beginUpload(http, repository)
      const body = content()
      const response = await http.send({
        method: 'PUT',
        path: `${path}${path.includes('?') ? '&' : '?'}digest=${encodeURIComponent(digest)}`,
        repository,
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
        body,
      })
      await expectCreated(response, `blob ${digest} of '${repository}'`)
    },
    async manifest(repository, tagOrDigest, { mediaType, bytes }) {
      const response = await http.send({
        method: 'PUT',
        path: `/v2/${repository}/manifests/${tagOrDigest}`,
        repository,
        headers: { 'content-type': mediaType },
        body: bytes,
      })
      await expectCreated(response, `the manifest '${tagOrDigest}' of '${repository}'`)
    },
  }
}

async function beginUpload(http: RegistryHttp, repository: string): Promise<string> {
  const path = `/v2/${repository}/blobs/uploads/`
  const response = await http.send({ method: 'POST', path, repository, headers: { 'content-length': '0' } })
  const location = response.headers.location
  if (response.statusCode === 202 && typeof location === 'string') {
    await discard(response)
    return location
  }
  throw await refusal(response, `an upload to '${repository}'`)
}

type Answer = Awaited<ReturnType<RegistryHttp['send']>>

async function expectCreated(response: Answer, what: string): Promise<void> {
  if (response.statusCode !== 201) throw await refusal(response, what)
  await discard(response)
}

async function refusal(response: Answer, what: string): Promise<RegistryError> {
  const body = await readBody(response, maxComplaintBytes, 'the answer of the registry')
  const message = `the registry refuses ${what} (${response.statusCode}): ${body.toString('utf8').trim()}`
  return new RegistryError(RegistryFailure.Corrupt, message)
}

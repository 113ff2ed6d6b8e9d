import { rm, utimes } from 'node:fs/promises'
import path from 'node:path'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { RegistryAction } from '../registry-scope.ts'
import { digestOf } from '../verified-stream.ts'
import { countedBody } from './counted-body.ts'
import type { DigestGuard } from './digest-guard.ts'
import type { ImageDeletions } from './image-deletions.ts'
import { referencesIn } from './manifest-references.ts'
import { publicRealm, withRealm } from './public-realm.ts'
import type { PushAccount, PushLedger } from './push-ledger.ts'
import type { PushPermissions } from './push-permissions.ts'
import { RegistryRefusal } from './registry-refusal.ts'
import type { RegistryRequest } from './registry-request.ts'
import { blobSize, entriesOfLink, entriesOfTag, entriesOfUpload, unlessGone } from './storage-inventory.ts'
import type { StorageLayout } from './storage-layout.ts'
import { passedHeaders } from './upstream.ts'
import type { Upstream } from './upstream.ts'

export interface PushHandlersDeps {
  readonly upstream: Upstream
  readonly permissions: PushPermissions
  readonly ledger: PushLedger
  readonly layout: StorageLayout
  readonly guard: DigestGuard
  readonly deletions: ImageDeletions
  readonly onImage: (change: ImageChange) => void
  /** The domain below which the gateway serves the registry and the API. Absent: it serves neither. */
  readonly metroDomain?: string | undefined
  /** The clock. If something is needed again, its age is counted from this time. */
  readonly nowMs: () => number
}

/** What a user has done to one of the images. */
export interface ImageChange {
  readonly kind: 'pushed' | 'deleted'
  readonly repository: string
  /** The tag or the digest by which the request named the image. */
  readonly reference: string
  readonly digest: string
}

export type Answer =
  | { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly body: Readable }
  | { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly text: string }

type Of<Kind extends RegistryRequest['kind']> = Extract<RegistryRequest, { kind: Kind }>
type Write = Exclude<RegistryRequest, { kind: 'read' | 'other' }>

/** The most bytes of a manifest. Distribution (the registry's program) itself refuses larger ones. */
const maxManifestBytes = 4 * 1024 * 1024
/**
 * The files and directories that a new upload may create besides its own: the directories of its repository,
 * and the link of its blob.
 */
const entriesOfNewRepository = 16
/** The files and directories for the state of the digest, which remain after a piece of an upload. */
const entriesOfPiece = 2
const entryBytes = 4_096
const discardTries = 5

/** What the owner does with each kind of request. */
export class PushHandlers {
  readonly #deps: PushHandlersDeps

  constructor(deps: PushHandlersDeps) {
    this.#deps = deps
  }

  async handle(call: RegistryRequest, request: IncomingMessage): Promise<Answer> {
    if (call.kind === 'read') return await this.#read(call, request)
    if (call.kind === 'other') {
      throw new RegistryRefusal('UNSUPPORTED', 'the registry takes images, and deletes them by tag or digest')
    }
    const action =
      call.kind === 'cancel' || call.kind === 'delete-manifest' ? RegistryAction.Delete : RegistryAction.Push
    const { authorization } = request.headers
    const token = await this.#deps.permissions.permit(authorization, { repository: call.repository, action })
    // The body is not read: the registry refuses the token, and its answer says where a client gets a valid
    // one.
    if (token === undefined) return await this.#pass(request, {})
    return await this.#write(call, request, { authorization: `Bearer ${token}` })
  }

  async #write(call: Write, request: IncomingMessage, headers: OutgoingHttpHeaders): Promise<Answer> {
    if (call.kind === 'start-upload') return await this.#startUpload(call, request, headers)
    if (call.kind === 'send' || call.kind === 'commit') return await this.#send(call, request, headers)
    if (call.kind === 'put-manifest') return await this.#putManifest(call, request, headers)
    if (call.kind === 'delete-manifest') return await this.#delete(call)
    return await this.#pass(request, headers)
  }

  /**
   * A client that may push leaves a blob out if it asks for the blob and the blob is there. So from then on
   * the blob is part of a push.
   */
  async #read(call: Of<'read'>, request: IncomingMessage): Promise<Answer> {
    const { repository, blob } = call
    if (request.method !== 'HEAD' || repository === undefined || blob === undefined)
      return await this.#pass(request, {})
    const { authorization } = request.headers
    const wish = { repository, action: RegistryAction.Push }
    if ((await this.#deps.permissions.permit(authorization, wish)) === undefined)
      return await this.#pass(request, {})
    const release = await this.#deps.guard.hold([blob])
    try {
      const answer = await this.#pass(request, {})
      const now = new Date(this.#deps.nowMs())
      if (answer.status === 200)
        await unlessGone(utimes(path.join(this.#deps.layout.layer(repository, blob), 'link'), now, now))
      return answer
    } finally {
      release()
    }
  }

  async #startUpload(
    { repository, mount }: Of<'start-upload'>,
    request: IncomingMessage,
    headers: OutgoingHttpHeaders,
  ): Promise<Answer> {
    const account = await this.#deps.ledger.open(repository)
    const parts = repository.split('/').length
    await this.#admitEntries(account, entriesOfNewRepository + entriesOfUpload + parts)
    const mounted = mount === undefined ? 0 : ((await blobSize(this.#deps.layout, mount)) ?? 0)
    await this.#deps.ledger.admit(account, mounted, () => undefined)
    const release = await this.#deps.guard.hold(mount === undefined ? [] : [mount])
    try {
      const answer = await this.#pass(request, headers)
      if (mount !== undefined && answer.status === 201) account.storage.addBlob(mount, mounted)
      return answer
    } finally {
      release()
    }
  }

  /** Takes a piece of an upload, or its end, which may bring a last piece. */
  async #send(
    call: Of<'send'> | Of<'commit'>,
    request: IncomingMessage,
    headers: OutgoingHttpHeaders,
  ): Promise<Answer> {
    const { repository, upload } = call
    const account = await this.#deps.ledger.open(repository)
    const release = await this.#deps.guard.hold(call.kind === 'commit' ? [call.digest] : [])
    const end = account.storage.beginSending(upload)
    const announced = Number(request.headers['content-length'] ?? 0)
    let passed = 0
    try {
      await this.#admitEntries(account, entriesOfPiece + (call.kind === 'commit' ? entriesOfLink : 0))
      await this.#deps.ledger.admit(account, announced, () => account.storage.addToUpload(upload, announced))
      const body = request.pipe(
        this.#counted(account, upload, { announced, onPassed: (bytes) => (passed += bytes) }),
      )
      request.once('close', () => request.complete || body.destroy(new Error('the client has gone')))
      const answer = await this.#pass(request, headers, body)
      if (call.kind === 'commit' && answer.status === 201) account.storage.commit(upload, call.digest)
      return answer
    } catch (error) {
      account.storage.addToUpload(upload, Math.min(0, passed - announced))
      if (error instanceof RegistryRefusal && error.code === 'DENIED') await this.#discard(account, call)
      throw error
    } finally {
      end()
      release()
    }
  }

  /**
   * Counts the bytes of a body while it passes. The bytes that the request announced are counted already.
   */
  #counted(
    account: PushAccount,
    upload: string,
    { announced, onPassed }: { readonly announced: number; readonly onPassed: (bytes: number) => void },
  ): Transform {
    const { ledger } = this.#deps
    const add = (bytes: number) => () => {
      onPassed(bytes)
      if (announced === 0) account.storage.addToUpload(upload, bytes)
    }
    const counted = (bytes: number) => (announced === 0 ? bytes : 0)
    return countedBody({
      fits: (bytes) => ledger.fits(account, counted(bytes), add(bytes)),
      admit: async (bytes) => await ledger.admit(account, counted(bytes), add(bytes)),
    })
  }

  async #putManifest(
    { repository, reference }: Of<'put-manifest'>,
    request: IncomingMessage,
    headers: OutgoingHttpHeaders,
  ): Promise<Answer> {
    const bytes = await readManifest(request)
    const account = await this.#deps.ledger.open(repository)
    await this.#admitEntries(account, entriesOfLink * 2 + entriesOfTag)
    await this.#deps.ledger.admit(account, bytes.length, () => undefined)
    const digest = digestOf(bytes)
    const before = await this.#deps.deletions.currentOf(repository, reference)
    const release = await this.#deps.guard.hold([
      digest,
      ...referencesIn(bytes),
      ...(before === undefined ? [] : [before]),
    ])
    try {
      const answer = await this.#pass(request, { ...headers, 'content-length': bytes.length }, bytes)
      if (answer.status !== 201) return answer
      account.storage.addBlob(digest, bytes.length)
      // At this very moment an instance may be created from the image that had the tag before. So the time
      // for which that image counts as untagged begins now.
      if (before !== undefined && before !== digest)
        await this.#deps.deletions.setWanted(repository, before, this.#deps.nowMs())
      this.#deps.onImage({ kind: 'pushed', repository, reference, digest })
      return answer
    } finally {
      release()
    }
  }

  async #delete({ repository, reference }: Of<'delete-manifest'>): Promise<Answer> {
    const digest = await this.#deps.deletions.delete(repository, reference)
    this.#deps.onImage({ kind: 'deleted', repository, reference, digest })
    return { status: 202, headers: { 'content-length': 0 }, text: '' }
  }

  async #admitEntries(account: PushAccount, count: number): Promise<void> {
    await this.#deps.ledger.admit(account, count * entryBytes, () => account.storage.addEntries(count))
  }

  /** An upload that was refused can not be completed; its bytes would only take the room of smaller ones. */
  async #discard(account: PushAccount, { repository, upload }: Of<'send'> | Of<'commit'>): Promise<void> {
    // Other requests that still send to the upload write on, and their bytes have to be counted until they
    // end.
    if (account.storage.sendersOf(upload) > 1) return
    const directory = this.#deps.layout.upload(repository, upload)
    // When the registry notices that the push is over, it writes one more file, so some files may be left.
    // The next inventory finds them.
    await rm(directory, { recursive: true, force: true, maxRetries: discardTries }).catch(() => undefined)
    account.storage.dropUpload(upload)
  }

  async #pass(
    request: IncomingMessage,
    headers: OutgoingHttpHeaders,
    body?: Readable | Buffer,
  ): Promise<Answer> {
    const answer = await this.#deps.upstream.send({
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      // A request without a body must not announce one: the registry would take what comes next on this
      // connection for the body.
      headers: {
        ...passedHeaders(request.headers),
        ...(body === undefined ? { 'content-length': '0' } : {}),
        ...headers,
      },
      body,
    })
    const answered = passedHeaders(answer.headers)
    const challenge = answered['www-authenticate']
    const { metroDomain } = this.#deps
    const realm = metroDomain === undefined ? undefined : publicRealm(metroDomain, request.headers.host)
    if (typeof challenge === 'string' && realm !== undefined)
      answered['www-authenticate'] = withRealm(challenge, realm)
    return { status: answer.statusCode ?? 502, headers: answered, body: answer }
  }
}

async function readManifest(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // Without this option a refusal would close the connection, and the client could not read the refusal.
  const chunksOf = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of chunksOf) {
    size += chunk.length
    if (size > maxManifestBytes) {
      throw new RegistryRefusal('MANIFEST_INVALID', `the manifest is larger than ${maxManifestBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

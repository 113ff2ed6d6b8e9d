import type { Holdings } from './storage-inventory.ts'

/**
 * The bytes that a file or a directory takes on disk besides its content. If they did not count, a push of
 * tags alone would cost nothing.
 */
const entryBytes = 4_096

interface OpenUpload {
  bytes: number
  /** The number of requests that send to the upload at this moment. */
  active: number
}

/** What was counted while an inventory was taken. The inventory may contain it or not. */
interface Meanwhile {
  readonly blobs: Map<string, number>
  readonly uploads: Set<string>
  entries: number
}

/**
 * What one user holds in the registry. The count starts from an inventory of the storage and adds what
 * passes. It subtracts nothing by itself: the next inventory finds what was deleted. So it may be too high
 * for a while, and never too low.
 */
export class StorageAccount {
  #blobs = new Map<string, number>()
  #blobBytes = 0
  #uploads = new Map<string, OpenUpload>()
  #entries = 0
  /** What was counted since an inventory began. It is set only while an inventory is taken. */
  #meanwhile: Meanwhile | undefined

  get usedBytes(): number {
    let bytes = this.#blobBytes + this.#entries * entryBytes
    for (const upload of this.#uploads.values()) bytes += upload.bytes
    return bytes
  }

  /** How many requests send to an upload at this moment. */
  sendersOf(upload: string): number {
    return this.#uploads.get(upload)?.active ?? 0
  }

  addEntries(count: number): void {
    this.#entries += count
    if (this.#meanwhile !== undefined) this.#meanwhile.entries += count
  }

  /**
   * Marks that a request sends to the upload. Returns a function that is called once, when the request has
   * ended.
   */
  beginSending(uuid: string): () => void {
    const upload = this.#upload(uuid)
    upload.active++
    return () => {
      upload.active--
    }
  }

  /**
   * Counts bytes that a request sends to an upload. A negative number takes back bytes that were announced
   * and did not come.
   */
  addToUpload(uuid: string, bytes: number): void {
    this.#upload(uuid).bytes += bytes
  }

  /** Called when an upload has become a blob. */
  commit(uuid: string, digest: string): void {
    this.addBlob(digest, this.#uploads.get(uuid)?.bytes ?? 0)
    this.#uploads.delete(uuid)
  }

  addBlob(digest: string, bytes: number): void {
    this.#meanwhile?.blobs.set(digest, bytes)
    this.#setBlob(digest, bytes)
  }

  dropUpload(uuid: string): void {
    this.#uploads.delete(uuid)
  }

  beginInventory(): void {
    const active = [...this.#uploads].filter(([, { active: count }]) => count > 0).map(([uuid]) => uuid)
    this.#meanwhile = { blobs: new Map(), uploads: new Set(active), entries: 0 }
  }

  /** Takes over the result of an inventory, and adds what was counted since `beginInventory`. */
  endInventory(found: Holdings | undefined): void {
    const meanwhile = this.#meanwhile
    this.#meanwhile = undefined
    const own = this.#uploads
    this.#blobs = new Map()
    this.#blobBytes = 0
    for (const [digest, bytes] of [...(found?.blobs ?? []), ...(meanwhile?.blobs ?? [])]) {
      this.#setBlob(digest, bytes)
    }
    this.#entries = (found?.entries ?? 0) + (meanwhile?.entries ?? 0)
    this.#uploads = new Map()
    for (const [uuid, bytes] of found?.uploads ?? []) this.#uploads.set(uuid, { bytes, active: 0 })
    for (const uuid of meanwhile?.uploads ?? []) {
      const upload = own.get(uuid)
      if (upload !== undefined) this.#uploads.set(uuid, upload)
    }
  }

  #upload(uuid: string): OpenUpload {
    const upload = this.#uploads.get(uuid) ?? { bytes: 0, active: 0 }
    this.#uploads.set(uuid, upload)
    this.#meanwhile?.uploads.add(uuid)
    return upload
  }

  #setBlob(digest: string, bytes: number): void {
    this.#blobBytes += bytes - (this.#blobs.get(digest) ?? 0)
    this.#blobs.set(digest, bytes)
  }
}

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { replaceFile } from '../primitives/replace-file.ts'
import { makeKey } from '../x509/key-pair.ts'
import type { PartIdentity } from './part-identity.ts'

const files = { key: 'part.key', certificate: 'part.crt', authority: 'authority.crt' } as const
/** Which part of a certificate's life may pass before the next one is asked for. */
const renewedAfter = 1 / 3
/** The wait after a renewal that failed, and the longest wait between two looks at the time. */
const lookMs = 60_000

/** The private key of a machine that joins. It is made once, and kept when a join is tried again. */
export async function keptKey(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const known = await textOf(path.join(directory, files.key))
  if (known !== undefined) return known
  const key = makeKey()
  await write(directory, files.key, key)
  return key
}

export function publicKeyOf(key: string): string {
  return createPublicKey(createPrivateKey(key)).export({ format: 'pem', type: 'spki' }).toString()
}

/** Keeps what a machine got when it joined. */
export async function keepIdentity(directory: string, identity: Omit<PartIdentity, 'key'>): Promise<void> {
  await write(directory, files.authority, identity.authority)
  await write(directory, files.certificate, identity.certificate)
}

/** Keeps an identity for a part that reads it from a directory of its own, which is made anew. */
export async function placeIdentity(directory: string, identity: PartIdentity): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await write(directory, files.key, identity.key)
  await keepIdentity(directory, identity)
}

/** Undefined if no machine has joined with this directory. */
export async function readIdentity(directory: string): Promise<PartIdentity | undefined> {
  const [key, certificate, authority] = await Promise.all(
    [files.key, files.certificate, files.authority].map(
      async (file) => await textOf(path.join(directory, file)),
    ),
  )
  if (key === undefined || certificate === undefined || authority === undefined) return undefined
  return { key, certificate, authority }
}

/**
 * The identity of a part that runs. It asks for its next certificate long before the end of this one, and
 * keeps asking until it has it.
 */
export class KeptIdentity {
  readonly #directory: string | undefined
  readonly #listeners: ((identity: PartIdentity) => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #current: PartIdentity

  /** Without a directory nothing is kept for a later start. */
  constructor(directory: string | undefined, identity: PartIdentity) {
    this.#directory = directory
    this.#current = identity
  }

  get current(): PartIdentity {
    return this.#current
  }

  onChange(listener: (identity: PartIdentity) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * `ask` returns the next certificate for the same key. Resolves at once, or, if the certificate is over,
   * after the first try: without a certificate that counts, the part would be taken for a stranger.
   */
  async keepValid(ask: () => Promise<string>, onProblem: (error: unknown) => void): Promise<void> {
    const look = async (): Promise<void> => {
      if (Date.now() < renewalMs(this.#current.certificate)) return
      await this.#take(await ask())
    }
    this.#timer = setInterval(() => void look().catch(onProblem), lookMs)
    this.#timer.unref()
    const first = look().catch(onProblem)
    if (new X509Certificate(this.#current.certificate).validToDate.getTime() <= Date.now()) await first
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #take(certificate: string): Promise<void> {
    const next = { ...this.#current, certificate }
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(next.key)))
      throw new Error('the new certificate is for another key')
    if (this.#directory !== undefined) await keepIdentity(this.#directory, next)
    this.#current = next
    for (const listener of this.#listeners) listener(next)
  }
}

function renewalMs(certificate: string): number {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  return validFromDate.getTime() + (validToDate.getTime() - validFromDate.getTime()) * renewedAfter
}

async function write(directory: string, name: string, text: string): Promise<void> {
  await replaceFile(path.join(directory, name), text, { mode: 0o600, durable: true })
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

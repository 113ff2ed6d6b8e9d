import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { besideIdBytes, isBesideId } from '../domain/part-name.ts'
import type { PartName } from '../domain/part-name.ts'
import { makeKey } from '../x509/key-pair.ts'
import { keepIdentity, keptKey, KeptIdentity, publicKeyOf, readIdentity } from './kept-identity.ts'
import type { PartIdentity } from './part-identity.ts'

/** Where a part beside the API asks for its certificates. */
export interface IdentitySource {
  readonly apiUrl: string
  /** The secret that the parts of the control plane's machine share. */
  readonly token: string
  readonly name: PartName
  /**
   * Where the part keeps what it got, for a start while the API is away. Absent: it waits for the API then.
   */
  readonly directory?: string
  readonly onProblem: (message: string, error: unknown) => void
}

/** A new id for a part that runs beside the API. */
export function besideId(): string {
  return randomBytes(besideIdBytes).toString('hex')
}

/** The id under which a part with this directory is known. It is chosen once. */
export async function partId(directory: string): Promise<string> {
  const file = path.join(directory, 'part-id')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (isBesideId(known)) return known
  const id = besideId()
  await mkdir(directory, { recursive: true })
  await writeFile(file, id)
  return id
}

const retryMs = 2_000
const answerMs = 5_000

/**
 * The identity of a part that runs beside the API. The first time it comes as soon as the API answers; later
 * ones begin with what was kept.
 */
export class AskedIdentity {
  readonly #source: IdentitySource
  readonly #listeners: ((identity: PartIdentity) => void)[] = []
  readonly #stopping = new AbortController()
  #kept: KeptIdentity | undefined

  constructor(source: IdentitySource) {
    this.#source = source
    void this.#open()
  }

  /** Undefined until the API has answered for the first time. */
  get current(): PartIdentity | undefined {
    return this.#kept?.current
  }

  onChange(listener: (identity: PartIdentity) => void): void {
    this.#listeners.push(listener)
    if (this.current !== undefined) listener(this.current)
  }

  stop(): void {
    this.#stopping.abort()
    this.#kept?.stop()
  }

  async #open(): Promise<void> {
    const { directory, onProblem } = this.#source
    const { signal } = this.#stopping
    for (let told = false; !signal.aborted; told = true) {
      try {
        const kept = directory === undefined ? undefined : await readIdentity(directory)
        this.#take(kept ?? (await this.#first()))
        return
      } catch (error) {
        if (!told)
          onProblem('the API gave no certificate yet, so hosts on other machines are not reached', error)
        await delay(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  #take(identity: PartIdentity): void {
    const kept = new KeptIdentity(this.#source.directory, identity)
    const tell = (next: PartIdentity): void => {
      for (const listener of this.#listeners) listener(next)
    }
    this.#kept = kept
    tell(identity)
    kept.onChange(tell)
    void kept.keepValid(
      async () => (await this.#ask(kept.current.key)).certificate,
      (error) => this.#source.onProblem('the certificate of this part could not be renewed yet', error),
    )
  }

  async #first(): Promise<PartIdentity> {
    const { directory } = this.#source
    const key = directory === undefined ? makeKey() : await keptKey(directory)
    const answer = await this.#ask(key)
    if (directory !== undefined) await keepIdentity(directory, answer)
    return { key, ...answer }
  }

  async #ask(key: string): Promise<Omit<PartIdentity, 'key'>> {
    const { apiUrl, token, name } = this.#source
    const answer = await request(new URL('/internal/parts/certificate', apiUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...name, publicKey: publicKeyOf(key) }),
      signal: AbortSignal.timeout(answerMs),
    })
    if (answer.statusCode === 200) return (await answer.body.json()) as Omit<PartIdentity, 'key'>
    await answer.body.dump()
    throw new Error(`the API answered ${answer.statusCode}`)
  }
}

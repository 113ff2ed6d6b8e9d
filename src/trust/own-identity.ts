import { PlatformPart } from '../domain/platform-part.ts'
import { makeKey } from '../x509/key-pair.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'
import { besideId } from './asked-identity.ts'
import { publicKeyOf } from './kept-identity.ts'
import { issuePartCertificate, partCertificateMs } from './part-authority.ts'
import type { PartIdentity } from './part-identity.ts'

const renewEveryMs = partCertificateMs / 7

/**
 * The identity of an API process. It holds the authority, so it issues its own certificates, with a key that
 * is never written down.
 */
export class OwnIdentity {
  readonly #listeners: ((identity: PartIdentity) => void)[] = []
  #current: PartIdentity

  private constructor(first: PartIdentity) {
    this.#current = first
  }

  static async open(authority: KeyPairPem, nowMs: () => number): Promise<OwnIdentity> {
    const name = { part: PlatformPart.Api, id: besideId() }
    const issue = async (): Promise<PartIdentity> => {
      const key = makeKey()
      const certificate = await issuePartCertificate(authority, {
        name,
        publicKey: publicKeyOf(key),
        nowMs: nowMs(),
      })
      return { key, certificate, authority: authority.chain }
    }
    const identity = new OwnIdentity(await issue())
    const renew = async (): Promise<void> => identity.#take(await issue())
    setInterval(() => void renew(), renewEveryMs).unref()
    return identity
  }

  get current(): PartIdentity {
    return this.#current
  }

  onChange(listener: (identity: PartIdentity) => void): void {
    this.#listeners.push(listener)
  }

  #take(next: PartIdentity): void {
    this.#current = next
    for (const listener of this.#listeners) listener(next)
  }
}

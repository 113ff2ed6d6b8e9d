import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../primitives/replace-file.ts'
import { MeshError } from './mesh-error.ts'

/** The bytes of a key of WireGuard (X25519), private or public. */
const keyBytes = 32
/** What stands before the bytes of a private X25519 key in the form PKCS #8. */
const pkcs8Start = Buffer.from('302e020100300506032b656e04220420', 'hex')
const ownerOnly = 0o600

/**
 * The machine's private key. It is made once, is in a file that only the agent's user may read, and never
 * leaves the machine. `wg` reads it from the file, so it stands in no process list.
 */
export class MeshKey {
  readonly path: string

  constructor(directory: string) {
    this.path = join(directory, 'mesh-key')
  }

  /** The public key in base64. Makes the private key if there is none. Throws `MeshError`. */
  async publicKey(): Promise<string> {
    const text = await this.#read()
    if (text === undefined) return await this.renew()
    const bytes = Buffer.from(text, 'base64')
    if (bytes.length !== keyBytes) {
      throw new MeshError(
        `${this.path} is no key: it has ${bytes.length} bytes instead of ${keyBytes}. Remove the file: the next start ` +
          'makes another key, with which this machine has to be announced again',
      )
    }
    await chmod(this.path, ownerOnly)
    const der = Buffer.concat([pkcs8Start, bytes])
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return fromBase64url(createPublicKey(key).export({ format: 'jwk' }).x)
  }

  /** Makes another private key and returns its public key. The new key is on the disk before it is used. */
  async renew(): Promise<string> {
    const { d, x } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' })
    await replaceFile(this.path, `${fromBase64url(d)}\n`, { mode: ownerOnly, durable: true })
    return fromBase64url(x)
  }

  async #read(): Promise<string | undefined> {
    try {
      return await readFile(this.path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}

/** Whether a text is a public key as `wg` prints it. */
export function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === keyBytes && bytes.toString('base64') === text
}

function fromBase64url(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64url').toString('base64')
}

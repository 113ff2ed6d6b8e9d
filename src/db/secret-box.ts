import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/**
 * Encrypts texts that must not be readable in the database. A sealed text begins with the id of its key, so
 * that older rows stay readable after a change of keys. It is bound to a context, which says what the text
 * is and whose, such as `instance-env/<uuid>`. So a sealed text that is copied to another row can not be
 * opened there.
 */
export interface SecretBox {
  seal(plain: string, context: string): string
  /** Throws `SecretBoxError` if the key is not known, the context differs or the text was changed. */
  open(sealed: string, context: string): string
}

/** A sealed text can not be opened. The message names neither the plain text nor a key. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError'
}

export const secretKeyBytes = 32
const cipher = 'aes-256-gcm'
/** The sizes that NIST SP 800-38D recommends. */
const nonceBytes = 12
const tagBytes = 16
const keyIdDigits = 8

/** Seals with the first key. Opens what any of the keys has sealed. */
export function createSecretBox(...keys: readonly [Uint8Array, ...Uint8Array[]]): SecretBox {
  const known = new Map(keys.map((key) => [secretKeyId(key), key]))
  const [first] = keys
  const firstId = secretKeyId(first)
  return {
    seal: (plain, context) => `${firstId}.${encrypt(first, plain, context)}`,
    open(sealed, context) {
      const id = sealed.slice(0, keyIdDigits)
      const key = known.get(id)
      if (key === undefined)
        throw new SecretBoxError(`the key '${id}' that this was sealed with is not known`)
      return decrypt(key, sealed.slice(keyIdDigits + 1), context)
    },
  }
}

/** Reads a key from the text of its file. */
export function parseSecretKey(base64: string): Uint8Array {
  const key = Buffer.from(base64.trim(), 'base64')
  if (key.length !== secretKeyBytes) {
    throw new SecretBoxError(`a secret key has ${secretKeyBytes} bytes in base64, this one has ${key.length}`)
  }
  return key
}

export function generateSecretKey(): string {
  return randomBytes(secretKeyBytes).toString('base64')
}

function secretKeyId(key: Uint8Array): string {
  if (key.length !== secretKeyBytes) throw new SecretBoxError(`a secret key has ${secretKeyBytes} bytes`)
  return createHash('sha256').update('roost key id').update(key).digest('hex').slice(0, keyIdDigits)
}

function encrypt(key: Uint8Array, plain: string, context: string): string {
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([sealing.update(plain, 'utf8'), sealing.final()])
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString('base64')
}

function decrypt(key: Uint8Array, text: string, context: string): string {
  const bytes = Buffer.from(text, 'base64')
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    const plain = [opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]
    return Buffer.concat(plain).toString('utf8')
  } catch (error) {
    throw new SecretBoxError(`what was sealed for '${context}' can not be opened`, { cause: error })
  }
}

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Makes lines unreadable on disk for anyone without the secret that the gateway was started with. */
export interface LineSeal {
  seal(text: string): string
  /** Throws if the text was sealed with another secret, or changed. */
  open(sealed: string): string
}

const cipher = 'aes-256-gcm'
const keyBytes = 32
/** The sizes of a nonce and a tag in NIST SP 800-38D. */
const nonceBytes = 12
const tagBytes = 16

export function createLineSeal(secret: string): LineSeal {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'roost gateway routes', keyBytes))
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, key, nonce)
      const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
      return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const tagEnd = nonceBytes + tagBytes
      const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      }).setAuthTag(bytes.subarray(nonceBytes, tagEnd))
      return Buffer.concat([opening.update(bytes.subarray(tagEnd)), opening.final()]).toString('utf8')
    },
  }
}

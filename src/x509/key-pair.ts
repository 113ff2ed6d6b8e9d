import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { webcrypto } from 'node:crypto'

/**
 * A chain, which is a certificate with those that lead to its issuer, and the certificate's private key.
 * Both are PEM.
 */
export interface KeyPairPem {
  readonly chain: string
  readonly key: string
}

/** A chain and a key do not belong together, or one of them is malformed. */
export class UnusableCertificate extends Error {
  override readonly name = 'UnusableCertificate'
}

/**
 * The algorithm of every key that is made here: all clients accept it, and it is the quickest to sign with.
 */
export const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Makes a private key in PEM. */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: keyAlgorithm.namedCurve })
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}

/** Converts a key of `makeKey` for the certificate library, which uses WebCrypto. */
export function cryptoKeysOf(key: string): webcrypto.CryptoKeyPair {
  return {
    privateKey: createPrivateKey(key).toCryptoKey(keyAlgorithm, false, ['sign']),
    publicKey: createPublicKey(key).toCryptoKey(keyAlgorithm, true, ['verify']),
  }
}

/**
 * Returns the first certificate of the chain. Throws `UnusableCertificate` if the chain or the key is not
 * PEM, or if the key belongs to another certificate.
 */
export function certificateOf({ chain, key }: KeyPairPem): X509Certificate {
  try {
    const certificate = new X509Certificate(chain)
    if (certificate.checkPrivateKey(createPrivateKey(key))) return certificate
  } catch (cause) {
    // The cause is OpenSSL's own error. It contains neither key nor file name.
    throw new UnusableCertificate('it is no certificate and private key in PEM', { cause })
  }
  throw new UnusableCertificate('the private key is not that of the certificate')
}

/**
 * Loads the certificate library. That is done only when something is issued. The library needs the polyfill
 * to be loaded first.
 */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

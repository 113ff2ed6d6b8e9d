import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { webcrypto } from 'node:crypto'

/** A certificate with those that lead to its issuer, and its private key; both in PEM. */
export interface KeyPairPem {
  readonly chain: string
  readonly key: string
}

/** A chain and a key do not belong together, or are not what they should be. */
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
 * The first certificate of the chain. Throws `UnusableCertificate` if something is no PEM, or if the key is
 * that of another certificate.
 */
export function certificateOf({ chain, key }: KeyPairPem): X509Certificate {
  try {
    const certificate = new X509Certificate(chain)
    if (certificate.checkPrivateKey(createPrivateKey(key))) return certificate
  } catch (cause) {
    // The reason is OpenSSL's own, and contains neither key nor file name.
    throw new UnusableCertificate('it is no certificate and private key in PEM', { cause })
  }
  throw new UnusableCertificate('the private key is not that of the certificate')
}

/** The library is loaded only when something is issued. It needs the polyfill to be loaded before it. */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

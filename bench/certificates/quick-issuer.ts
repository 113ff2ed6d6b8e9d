import { createHash, createPrivateKey, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { issueLeaf, makeRoot } from '../../src/x509/authority.ts'
import { cryptoKeysOf, makeKey } from '../../src/x509/key-pair.ts'
import type { KeyPairPem } from '../../src/x509/key-pair.ts'

/** A certificate as users have it: with the certificate of its issuer, and its key. */
export interface IssuedCertificate extends KeyPairPem {
  readonly name: string
  /** The serial number in the form in which Node gives it. */
  readonly serialNumber: string
}

export interface QuickIssuer {
  /** The root that clients trust, in PEM. */
  readonly root: string
  /** Issues a certificate. Each call gives another one, even for the same name. */
  issue(index: number): IssuedCertificate
}

/**
 * The number of keys that the certificates share. A key takes longest to make, and the gateway treats all
 * keys alike.
 */
const keyPairs = 8
const dayMs = 86_400_000
const nameDigits = 6
const templateSerial = '4f'.repeat(16)
/** The beginning of a SEQUENCE whose length has two bytes. */
const longSequence = Buffer.from([0x30, 0x82])
const headerBytes = 4
/** The AlgorithmIdentifier `ecdsa-with-SHA256`, in DER. */
const ecdsaWithSha256 = Buffer.from('300a06082a8648ce3d040302', 'hex')

interface Template {
  readonly key: string
  /** The signed part of a certificate, with placeholders for name and serial number. */
  readonly signed: Buffer
}

export function nameOf(index: number): string {
  return `c${String(index).padStart(nameDigits, '0')}.bench.test`
}

/**
 * Issues thousands of certificates within a second or two. For each key pair one certificate is made in
 * full. The others differ from it only in name and serial number, which have the same length and are put in.
 */
export async function openQuickIssuer(): Promise<QuickIssuer> {
  const nowMs = Date.now()
  const authority = await makeRoot({ commonName: 'Roost bench' }, nowMs)
  const authorityKey = createPrivateKey(authority.key)
  const templates = await Promise.all(
    Array.from({ length: keyPairs }, async () => {
      const key = makeKey()
      const pem = await issueLeaf(authority, {
        names: [nameOf(0)],
        publicKey: cryptoKeysOf(key).publicKey,
        notBeforeMs: nowMs - dayMs,
        notAfterMs: nowMs + dayMs,
        serialNumber: templateSerial,
      })
      return { key, signed: signedPartOf(pem) }
    }),
  )
  return {
    root: authority.chain,
    issue: (index) => {
      const template = templates[placeOf(index) % keyPairs]
      if (template === undefined) throw new Error('there is no template')
      return issueFrom(template, index, { chain: authority.chain, key: authorityKey })
    },
  }
}

/** The place of a name in an order that looks random but is the same in each run. */
export function placeOf(index: number): number {
  return createHash('sha256').update(String(index)).digest().readUInt32BE(0)
}

function issueFrom(
  { key, signed }: Template,
  index: number,
  authority: { readonly chain: string; readonly key: KeyObject },
): IssuedCertificate {
  const name = nameOf(index)
  const serial = Buffer.concat([Buffer.from([0x4f]), randomBytes(templateSerial.length / 2 - 1)])
  const body = Buffer.from(signed)
  put(body, Buffer.from(templateSerial, 'hex'), serial)
  put(body, Buffer.from(nameOf(0)), Buffer.from(name))
  const signature = sign('sha256', body, authority.key)
  const bits = Buffer.concat([Buffer.from([0x03, signature.length + 1, 0]), signature])
  const content = Buffer.concat([body, ecdsaWithSha256, bits])
  const lines = Buffer.concat([longSequence, lengthOf(content), content])
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n')
  return {
    name,
    serialNumber: serial.toString('hex').toUpperCase(),
    chain: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n${authority.chain}`,
    key,
  }
}

function put(body: Buffer, placeholder: Buffer, value: Buffer): void {
  const at = body.indexOf(placeholder)
  if (at < 0 || value.length !== placeholder.length) throw new Error('the template has another form')
  value.copy(body, at)
}

function lengthOf(content: Buffer): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(content.length)
  return bytes
}

/** The first part of a certificate, with its header: the part that is signed. */
function signedPartOf(pem: string): Buffer {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----/g, ''), 'base64')
  const part = der.subarray(headerBytes)
  if (!part.subarray(0, 2).equals(longSequence)) throw new Error('the template has another form')
  return part.subarray(0, headerBytes + part.readUInt16BE(2))
}

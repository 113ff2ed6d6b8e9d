import { createPublicKey, generateKeyPairSync, webcrypto } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { loadX509 } from '../../src/x509/key-pair.ts'

/** The kinds of keys of test certificates. */
export type TestKeyKind = 'p256' | 'p384' | 'p521' | 'p256k1' | 'rsa1024' | 'rsa2048' | 'rsa8192' | 'ed25519'

const curves = { p256: 'P-256', p384: 'P-384', p521: 'P-521' } as const
const dayMs = 86_400_000

export function makeTestKey(kind: TestKeyKind = 'p256'): KeyObject {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519').privateKey
  if (kind === 'p256k1') return generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
  if (kind in curves) {
    return generateKeyPairSync('ec', { namedCurve: curves[kind as keyof typeof curves] }).privateKey
  }
  return generateKeyPairSync('rsa', { modulusLength: Number(kind.slice('rsa'.length)) }).privateKey
}

export function keyText(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString()
}

export interface MadeCertificate {
  /** The certificate, PEM. */
  readonly pem: string
  readonly key: KeyObject
  /** The private key, PEM. */
  readonly pkey: string
}

export interface WantedTestCertificate {
  /** Subject, such as `CN=example.com`. */
  readonly subject: string
  /** The domain names in the extension `subjectAltName`. */
  readonly names?: readonly string[]
  readonly key?: KeyObject
  /** The issuer. If absent, the certificate is signed with its own key. */
  readonly issuer?: MadeCertificate
  /** The validity in days from now. Default: from yesterday to 90 days from now. */
  readonly days?: readonly [from: number, to: number]
  readonly authority?: boolean
  readonly uses?: readonly string[]
  /**
   * What the key may sign. `certificates`: only certificates and revocation lists. `handshakes`: also the
   * handshakes of a server. If absent, everything.
   */
  readonly keyUse?: 'handshakes' | 'certificates'
  /** The URL that the certificate gives for its issuer's certificate. */
  readonly issuerUrl?: string
  readonly hash?: 'SHA-1' | 'SHA-256'
}

/** Makes a real certificate, like those that other tools make. */
export async function makeTestCertificate(wanted: WantedTestCertificate): Promise<MadeCertificate> {
  const x509 = await loadX509()
  const key = wanted.key ?? makeTestKey()
  const signer = wanted.issuer?.key ?? key
  const [from, to] = wanted.days ?? [-1, 90]
  const extensions = [
    new x509.BasicConstraintsExtension(wanted.authority === true, undefined, true),
    ...(wanted.names === undefined
      ? []
      : [new x509.SubjectAlternativeNameExtension(wanted.names.map((value) => ({ type: 'dns', value })))]),
    ...(wanted.uses === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...wanted.uses])]),
    ...(wanted.keyUse === undefined
      ? []
      : [new x509.KeyUsagesExtension(keyUsesOf(x509, wanted.keyUse), true)]),
    ...(wanted.issuerUrl === undefined
      ? []
      : [new x509.AuthorityInfoAccessExtension({ caIssuers: wanted.issuerUrl })]),
  ]
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: `0abc${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex')}`,
      subject: wanted.subject,
      issuer:
        wanted.issuer === undefined ? wanted.subject : new x509.X509Certificate(wanted.issuer.pem).subject,
      notBefore: new Date(Date.now() + from * dayMs),
      notAfter: new Date(Date.now() + to * dayMs),
      signingAlgorithm: algorithmOf(signer, wanted.hash ?? 'SHA-256'),
      publicKey: Buffer.from(createPublicKey(key).export({ format: 'der', type: 'spki' })),
      signingKey: signer.toCryptoKey(algorithmOf(signer, wanted.hash ?? 'SHA-256'), false, ['sign']),
      extensions,
    },
    webcrypto,
  )
  return { pem: `${certificate.toString('pem')}\n`, key, pkey: keyText(key) }
}

function keyUsesOf(
  { KeyUsageFlags }: Awaited<ReturnType<typeof loadX509>>,
  keyUse: NonNullable<WantedTestCertificate['keyUse']>,
): number {
  const authority = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
  return keyUse === 'certificates' ? authority : authority | KeyUsageFlags.digitalSignature
}

function algorithmOf(key: KeyObject, hash: string) {
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (key.asymmetricKeyType === 'ec') {
    const names: Readonly<Record<string, string>> = {
      prime256v1: 'P-256',
      secp384r1: 'P-384',
      secp521r1: 'P-521',
    }
    return { name: 'ECDSA', namedCurve: names[curve ?? ''] ?? '', hash }
  }
  return key.asymmetricKeyType === 'rsa' ? { name: 'RSASSA-PKCS1-v1_5', hash } : { name: 'Ed25519' }
}

/** A root, one authority below it, and a certificate of a server. */
export async function makeTestChain(names: readonly string[], more: Partial<WantedTestCertificate> = {}) {
  const root = await makeTestCertificate({ subject: 'CN=Test Root', authority: true, days: [-10, 3_650] })
  const between = await makeTestCertificate({
    subject: 'O=Tests,CN=Test Authority',
    authority: true,
    issuer: root,
    days: [-10, 1_000],
  })
  const leaf = await makeTestCertificate({
    subject: `CN=${names[0] ?? 'nobody'}`,
    names,
    issuer: between,
    ...more,
  })
  return { root, between, leaf }
}

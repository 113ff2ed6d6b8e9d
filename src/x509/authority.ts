import { randomBytes, webcrypto } from 'node:crypto'
import { cryptoKeysOf, keyAlgorithm, loadX509, makeKey } from './key-pair.ts'
import type { KeyPairPem } from './key-pair.ts'

const dayMs = 86_400_000
/** How long a root is valid. People install a root by hand, so it has to last. */
const rootDays = 3_650
/**
 * How much earlier than now a certificate begins. If the clock is corrected to an earlier time after the
 * first start, what was issued must stay valid.
 */
export const backDatedMs = dayMs
const serialBytes = 15
/** The first byte of a serial number. Serial numbers have to be positive and without a leading zero. */
const serialPrefix = '4f'
const serverUse = '1.3.6.1.5.5.7.3.1'
const clientUse = '1.3.6.1.5.5.7.3.2'
const nameConstraintsOid = '2.5.29.30'

export interface RootOptions {
  readonly commonName: string
  /**
   * The names that the authority may vouch for, as the value of NameConstraints in DER. If it is absent, any
   * name.
   */
  readonly nameConstraints?: Buffer
}

/** Makes an authority that issues certificates directly, without intermediate authorities. */
export async function makeRoot(options: RootOptions, nowMs: number): Promise<KeyPairPem> {
  const x509 = await loadX509()
  const key = makeKey()
  const keys = cryptoKeysOf(key)
  const { commonName, nameConstraints } = options
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: randomSerialNumber(),
      name: [{ CN: [commonName] }],
      notBefore: new Date(nowMs - backDatedMs),
      notAfter: new Date(nowMs + rootDays * dayMs),
      signingAlgorithm: keyAlgorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        ...(nameConstraints ? [new x509.Extension(nameConstraintsOid, true, nameConstraints)] : []),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return { chain: `${certificate.toString('pem')}\n`, key }
}

export interface LeafOptions {
  /**
   * The names that clients check. The subject holds none of them, because it is limited to 64 characters.
   */
  readonly names: readonly string[]
  readonly publicKey: webcrypto.CryptoKey
  readonly notBeforeMs: number
  /** The end of the certificate. If the authority ends earlier, the certificate ends with it. */
  readonly notAfterMs: number
  /** The serial number in hexadecimal, beginning with 01 to 7f. If it is absent, a random one is taken. */
  readonly serialNumber?: string
  /** Whether clients show the certificate too. Absent: only servers do. */
  readonly forClients?: boolean
}

/** Issues a certificate that is no authority. Returns it as PEM. */
export async function issueLeaf(authority: KeyPairPem, options: LeafOptions): Promise<string> {
  const x509 = await loadX509()
  const root = new x509.X509Certificate(authority.chain)
  const { names, publicKey } = options
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: options.serialNumber ?? randomSerialNumber(),
      subject: 'CN=Roost',
      issuer: root.subject,
      notBefore: new Date(options.notBeforeMs),
      notAfter: new Date(Math.min(options.notAfterMs, root.notAfter.getTime())),
      signingAlgorithm: keyAlgorithm,
      publicKey,
      signingKey: cryptoKeysOf(authority.key).privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(
          options.forClients === true ? [serverUse, clientUse] : [serverUse],
        ),
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
        await x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(root.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return `${certificate.toString('pem')}\n`
}

function randomSerialNumber(): string {
  return serialPrefix + randomBytes(serialBytes).toString('hex')
}

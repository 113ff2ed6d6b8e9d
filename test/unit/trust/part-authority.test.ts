import { strict as assert } from 'node:assert'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { partNamed } from '../../../src/domain/part-name.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { publicKeyOf } from '../../../src/trust/kept-identity.ts'
import { fingerprintOf, issuePartCertificate, makePartAuthority } from '../../../src/trust/part-authority.ts'
import { UnusablePublicKey } from '../../../src/trust/part-authority.ts'
import { namesOf } from '../../../src/trust/part-identity.ts'
import { makeKey } from '../../../src/x509/key-pair.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'

const nowMs = Date.UTC(2026, 5, 1)
const dayMs = 86_400_000
const name = { part: PlatformPart.Agent, id: 'h2' }
const uses = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }

describe('certificates of parts', () => {
  let authority: KeyPairPem
  before(async () => {
    authority = await makePartAuthority(nowMs)
  })

  const issue = async (publicKey: string) => await issuePartCertificate(authority, { name, publicKey, nowMs })

  it('are vouched for by the authority, for servers and clients, for seven days', async () => {
    const key = makeKey()
    const certificate = new X509Certificate(await issue(publicKeyOf(key)))
    const root = new X509Certificate(authority.chain)
    assert.ok(certificate.verify(root.publicKey) && certificate.checkIssued(root))
    assert.ok(root.ca && !certificate.ca)
    assert.deepEqual(certificate.keyUsage?.toSorted(), [uses.server, uses.client])
    assert.deepEqual(namesOf(certificate), ['h2.agent.roost.internal', 'agent.roost.internal'])
    assert.deepEqual(partNamed(namesOf(certificate)), name)
    assert.equal(certificate.validToDate.getTime(), nowMs + 7 * dayMs)
    assert.equal(certificate.validFromDate.getTime(), nowMs - dayMs)
    assert.equal(certificate.publicKey.export({ format: 'pem', type: 'spki' }), publicKeyOf(key))
  })

  it('are not vouched for by another authority', async () => {
    const certificate = new X509Certificate(await issue(publicKeyOf(makeKey())))
    const other = new X509Certificate((await makePartAuthority(nowMs)).chain)
    assert.ok(!certificate.verify(other.publicKey))
    assert.ok(!fingerprintOf(authority.chain).equals(fingerprintOf(other.toString())))
  })

  it('are issued for public keys of the curve P-256 alone', async () => {
    const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
    const refused: Readonly<Record<string, string>> = {
      'P-384': pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey),
      secp256k1: pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
      Ed25519: pem(generateKeyPairSync('ed25519').publicKey),
      RSA: pem(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey),
      'a private key': makeKey(),
      'a certificate': authority.chain,
      nothing: '',
      text: 'no key',
      'a damaged key': publicKeyOf(makeKey()).replace(/[A-Z]{3}/, '!!!'),
      'the frame alone': '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n',
    }
    for (const [what, key] of Object.entries(refused))
      await assert.rejects(issue(key), UnusablePublicKey, what)
  })
})

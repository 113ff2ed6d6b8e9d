import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { makeCertificateKey, makeSigningRequest } from '../../src/acme/certificate-key.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import { createLocalIssuer, ensureLocalAuthority, localDirectory } from '../../src/acme/local-issuer.ts'
import { certificateOf } from '../../src/x509/key-pair.ts'
import { createMemoryStore } from './memory-store.ts'
import type { MemoryStore } from './memory-store.ts'

const never = new AbortController().signal
const dayMs = 86_400_000
const names = ['shop.example.test']

describe('the local authority', () => {
  let store: MemoryStore
  let nowMs: number
  const issuerHere = () => createLocalIssuer({ store, nowMs: () => nowMs })
  const rootNow = async () => new X509Certificate((await ensureLocalAuthority(store, nowMs)).chain)

  beforeEach(() => {
    store = createMemoryStore()
    nowMs = Date.parse('2030-05-01T12:00:00Z')
  })

  it('issues a certificate for any name at once, without a challenge, that its root signs', async () => {
    const issuer = issuerHere()
    const key = makeCertificateKey()
    const csr = await makeSigningRequest(key, names)
    const order = await issuer.open(names, {})
    assert.deepEqual({ state: order.state, challenges: order.challenges }, { state: 'ready', challenges: [] })
    await issuer.prove(order, 'http-01', never)
    await issuer.finalise(order.url, csr, never)
    const leaf = certificateOf({ chain: await issuer.download(order.url, csr), key })
    assert.equal(leaf.checkHost('shop.example.test'), 'shop.example.test')
    assert.equal(leaf.checkHost('other.example.test'), undefined)
    assert.ok(leaf.verify((await rootNow()).publicKey))
    assert.equal(leaf.validToDate.getTime() - nowMs, 90 * dayMs)
    assert.ok(leaf.validFromDate.getTime() < nowMs)
  })

  it('gives the same certificate again in another process, days later', async () => {
    const key = makeCertificateKey()
    const csr = await makeSigningRequest(key, names)
    const { url } = await issuerHere().open(names, {})
    const first = new X509Certificate(await issuerHere().download(url, csr))
    nowMs += 3 * dayMs
    assert.equal((await issuerHere().find(url))?.state, 'ready')
    const again = new X509Certificate(await issuerHere().download(url, await makeSigningRequest(key, names)))
    const facts = ({ serialNumber, validFrom, validTo, publicKey }: X509Certificate) => ({
      serialNumber,
      validFrom,
      validTo,
      key: publicKey.export({ type: 'spki', format: 'pem' }),
    })
    assert.deepEqual(facts(again), facts(first))
  })

  it('gives every order a serial number of its own', async () => {
    const issuer = issuerHere()
    const csr = await makeSigningRequest(makeCertificateKey(), names)
    const serials = new Set<string>()
    for (let count = 0; count < 5; count++) {
      const { url } = await issuer.open(names, {})
      serials.add(new X509Certificate(await issuer.download(url, csr)).serialNumber)
    }
    assert.equal(serials.size, 5)
  })

  it('is the same for several processes that start at once', async () => {
    const roots = await Promise.all(Array.from({ length: 5 }, rootNow))
    assert.equal(new Set(roots.map((root) => root.fingerprint256)).size, 1)
  })

  it('is made again before its root ends, and stays the same until then', async () => {
    const first = await rootNow()
    nowMs = first.validToDate.getTime() - 91 * dayMs
    assert.equal((await rootNow()).fingerprint256, first.fingerprint256)
    nowMs += 2 * dayMs
    const next = await rootNow()
    assert.notEqual(next.fingerprint256, first.fingerprint256)
    assert.equal((await rootNow()).fingerprint256, next.fingerprint256)
  })

  it('can issue no other authority', async () => {
    const root = await rootNow()
    assert.ok(root.ca)
    const issuer = issuerHere()
    const { url } = await issuer.open(names, {})
    const csr = await makeSigningRequest(makeCertificateKey(), names)
    assert.equal(new X509Certificate(await issuer.download(url, csr)).ca, false)
  })

  it('refuses a request for other names, or none, or one that is no request', async () => {
    const issuer = issuerHere()
    const { url } = await issuer.open(names, {})
    const key = makeCertificateKey()
    const requests = [
      await makeSigningRequest(key, ['other.example.test']),
      await makeSigningRequest(key, [...names, 'other.example.test']),
      await makeSigningRequest(key, []),
      Buffer.from('no request'),
    ]
    for (const csr of requests) {
      await assert.rejects(issuer.finalise(url, csr, never), isFailure)
      await assert.rejects(issuer.download(url, csr), isFailure)
    }
  })

  it('refuses a request that somebody changed after it was signed', async () => {
    const issuer = issuerHere()
    const { url } = await issuer.open(['shoq.example.test'], {})
    const csr = await makeSigningRequest(makeCertificateKey(), names)
    csr.write('shoq', csr.indexOf('shop'))
    await assert.rejects(issuer.finalise(url, csr, never), isFailure)
  })

  it('does not know orders that are old, or of another authority that was configured before', async () => {
    const issuer = issuerHere()
    const { url } = await issuer.open(names, {})
    nowMs += 8 * dayMs
    assert.equal(await issuer.find(url), undefined)
    assert.equal(await issuer.find('https://acme.example/order/1'), undefined)
  })

  it('stores only its own key and chain', async () => {
    const issuer = issuerHere()
    const csr = await makeSigningRequest(makeCertificateKey(), names)
    const { url } = await issuer.open(names, {})
    await issuer.download(url, csr)
    assert.deepEqual([...store.records.keys()], [localDirectory])
  })
})

function isFailure(error: unknown): boolean {
  return error instanceof IssueError && error.kind === 'failed'
}

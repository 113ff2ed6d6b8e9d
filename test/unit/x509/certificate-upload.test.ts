import { strict as assert } from 'node:assert'
import { X509Certificate, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { maxChainCertificates, readCertificateUpload } from '../../../src/x509/certificate-upload.ts'
import type { UploadFlaw } from '../../../src/x509/certificate-upload.ts'
import { keyText, makeTestCertificate, makeTestChain, makeTestKey } from '../../support/certificate-maker.ts'
import type { MadeCertificate, TestKeyKind, WantedTestCertificate } from '../../support/certificate-maker.ts'

const name = 'www.example.com'
const serverUse = '1.3.6.1.5.5.7.3.1'
const clientUse = '1.3.6.1.5.5.7.3.2'

describe('the upload of a certificate', () => {
  let made: Awaited<ReturnType<typeof makeTestChain>>
  before(async () => {
    made = await makeTestChain([name])
  })

  const read = (
    given: { readonly chain: string; readonly pkey: string },
    more: { readonly commonName?: string; readonly known?: readonly string[]; readonly nowMs?: number } = {},
  ) =>
    readCertificateUpload({
      commonName: more.commonName ?? name,
      ...given,
      nowMs: more.nowMs ?? Date.now(),
      chainsOf: async () => more.known ?? [],
    })
  const accepted = async (...args: Parameters<typeof read>) => {
    const outcome = await read(...args)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome
  }
  const flaw = async (...args: Parameters<typeof read>): Promise<UploadFlaw> => {
    const outcome = await read(...args)
    assert.ok(!outcome.ok, 'it was accepted')
    return outcome.flaw
  }
  const leafWith = (more: Partial<WantedTestCertificate>) =>
    makeTestCertificate({ subject: `CN=${name}`, names: [name], issuer: made.between, ...more })
  const below = (leaf: MadeCertificate) => ({ chain: leaf.pem + made.between.pem, pkey: leaf.pkey })
  const good = () => below(made.leaf)

  it('tells subject, issuer, serial number and dates', async () => {
    const { facts } = await accepted(good())
    const certificate = new X509Certificate(made.leaf.pem)
    assert.deepEqual(facts, {
      subject: `CN=${name}`,
      issuer: 'CN=Test Authority,O=Tests',
      serialNumber: certificate.serialNumber,
      notBefore: new Date(certificate.validFrom),
      notAfter: new Date(certificate.validTo),
    })
    assert.match(facts.serialNumber, /^0ABC[0-9A-F]{16}$/)
  })

  for (const kind of ['p256', 'p384', 'p521', 'rsa2048'] satisfies TestKeyKind[]) {
    it(`takes a key of the kind ${kind}, and gives back one that signs for the certificate`, async () => {
      const leaf = await leafWith({ key: makeTestKey(kind) })
      const { chain, keyPem } = await accepted(below(leaf))
      assert.ok(new X509Certificate(chain).checkPrivateKey(createPrivateKey(keyPem)))
    })
  }

  const refusedKinds: readonly [TestKeyKind, UploadFlaw][] = [
    ['ed25519', { kind: 'key-type', type: 'ed25519' }],
    ['p256k1', { kind: 'key-curve', curve: 'secp256k1' }],
    ['rsa1024', { kind: 'key-bits', bits: 1_024 }],
    ['rsa8192', { kind: 'key-bits', bits: 8_192 }],
  ]
  for (const [kind, expected] of refusedKinds) {
    it(`refuses a key of the kind ${kind}`, async () => {
      const key = kind === 'rsa8192' ? largeKey() : makeTestKey(kind)
      assert.deepEqual(await flaw({ chain: made.leaf.pem, pkey: keyText(key) }), expected)
    })
  }

  /**
   * A key of 8192 bits whose factors are not primes. To find such primes takes seconds, and the key is
   * refused for its size before it is used.
   */
  const largeKey = () => {
    const number = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64url')
    const [n, d, half] = [number(1_024), number(1_023), number(512)]
    const key = { kty: 'RSA', n, e: 'AQAB', d, p: half, q: half, dp: half, dq: half, qi: half }
    return createPrivateKey({ format: 'jwk', key })
  }

  it('takes the older forms of keys, with what OpenSSL writes in front of them', async () => {
    const { key } = made.leaf
    const sec1 = key.export({ format: 'pem', type: 'sec1' }).toString()
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
    await accepted({ ...good(), pkey: `${parameters}${sec1}` })
    const rsa = await leafWith({ key: makeTestKey('rsa2048') })
    await accepted({
      ...below(rsa),
      pkey: rsa.key.export({ format: 'pem', type: 'pkcs1' }).toString(),
    })
  })

  it('refuses an encrypted key of either form', async () => {
    const { key } = made.leaf
    const sealing = { cipher: 'aes-256-cbc', passphrase: 'secret' } as const
    for (const type of ['pkcs8', 'sec1'] as const) {
      const pkey = key.export({ format: 'pem', type, ...sealing }).toString()
      assert.deepEqual(await flaw({ ...good(), pkey }), { kind: 'key-encrypted' })
    }
  })

  it('refuses what is no private key, and more than one', async () => {
    const publicKey = createPublicKey(made.leaf.key).export({ format: 'pem', type: 'spki' }).toString()
    const cases: readonly [string, UploadFlaw][] = [
      [publicKey, { kind: 'key-holds', labels: ['PUBLIC KEY'] }],
      [made.leaf.pem, { kind: 'key-holds', labels: ['CERTIFICATE'] }],
      [made.leaf.pkey + made.between.pkey, { kind: 'key-holds', labels: ['PRIVATE KEY', 'PRIVATE KEY'] }],
      ['nothing', { kind: 'key-not-pem', flaw: 'no-pem' }],
      [made.leaf.pkey.replace(/-----END.*/s, ''), { kind: 'key-not-pem', flaw: 'unfinished' }],
      [made.leaf.pkey.replaceAll('\n', String.raw`\n`), { kind: 'key-not-pem', flaw: 'escaped-lines' }],
      ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', { kind: 'key-unreadable' }],
    ]
    for (const [pkey, expected] of cases) assert.deepEqual(await flaw({ ...good(), pkey }), expected)
  })

  it('refuses the key of another certificate', async () => {
    const expected = { kind: 'other-key', subject: `CN=${name}` }
    assert.deepEqual(await flaw({ ...good(), pkey: keyText(makeTestKey()) }), expected)
    assert.deepEqual(await flaw({ ...good(), pkey: keyText(makeTestKey('rsa2048')) }), expected)
  })

  it('refuses an RSA key whose private half is not that of its public half', async () => {
    const leaf = await leafWith({ key: makeTestKey('rsa2048') })
    const own = leaf.key.export({ format: 'jwk' })
    const other = makeTestKey('rsa2048').export({ format: 'jwk' })
    const mixed = createPrivateKey({ format: 'jwk', key: { ...other, n: own.n!, e: own.e! } })
    assert.equal((await flaw({ ...below(leaf), pkey: keyText(mixed) })).kind, 'other-key')
  })

  it('refuses a chain that is no PEM, or holds something else', async () => {
    const cases: readonly [string, UploadFlaw][] = [
      [randomBytes(500).toString('base64'), { kind: 'chain-not-pem', flaw: 'no-pem' }],
      [made.leaf.pem.slice(0, 300), { kind: 'chain-not-pem', flaw: 'unfinished' }],
      [made.leaf.pem.replaceAll('\n', String.raw`\n`), { kind: 'chain-not-pem', flaw: 'escaped-lines' }],
      [made.leaf.pem + made.leaf.pkey, { kind: 'chain-holds', label: 'PRIVATE KEY' }],
      ['-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----', { kind: 'chain-holds', label: 'PKCS7' }],
      [`${made.leaf.pem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`, unreadable(2)],
    ]
    for (const [chain, expected] of cases) {
      assert.deepEqual(await flaw({ chain, pkey: made.leaf.pkey }), expected)
    }
  })
  const unreadable = (number: number): UploadFlaw => ({ kind: 'unreadable', number })

  it('refuses more certificates than any chain has', async () => {
    const count = maxChainCertificates + 1
    const chain = made.leaf.pem.repeat(count)
    assert.deepEqual(await flaw({ chain, pkey: made.leaf.pkey }), { kind: 'too-many', count })
  })

  it('reads what tools write around the pieces, and lines that end as on Windows', async () => {
    const chain = `Bag Attributes\n  friendlyName: x\n${good().chain}`.replaceAll('\n', '\r\n')
    const { chain: kept } = await accepted({ chain, pkey: made.leaf.pkey.replaceAll('\n', '\r\n') })
    assert.equal(kept, (await accepted(good())).chain)
  })

  it('puts the certificate first and its issuers behind it, without doubles and without the root', async () => {
    const { root, between, leaf } = made
    const { chain } = await accepted({
      chain: root.pem + between.pem + leaf.pem + between.pem,
      pkey: leaf.pkey,
    })
    assert.deepEqual(subjects(chain), [`CN=${name}`, 'O=Tests\nCN=Test Authority'])
  })
  const subjects = (chain: string) =>
    chain
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem).subject.split('\n').toSorted().toReversed().join('\n'))

  it('takes the valid one of several certificates with the same key', async () => {
    const { key } = made.leaf
    const old = await leafWith({ key, days: [-90, -1] })
    const other = await leafWith({ key, names: ['other.example'] })
    const { chain } = await accepted({
      chain: old.pem + other.pem + good().chain + made.root.pem,
      pkey: made.leaf.pkey,
    })
    assert.equal(chain, good().chain)
    assert.equal((await flaw({ chain: old.pem + other.pem, pkey: made.leaf.pkey })).kind, 'expired')
  })

  it('drops certificates of other chains if the way to a root is complete without them', async () => {
    const stranger = await makeTestCertificate({ subject: 'CN=Stranger', authority: true })
    const { chain } = await accepted({
      chain: good().chain + stranger.pem + made.root.pem,
      pkey: made.leaf.pkey,
    })
    assert.equal(chain, good().chain)
  })

  it('refuses a chain with certificates of others and a gap', async () => {
    const stranger = await makeTestCertificate({ subject: 'CN=Stranger', authority: true })
    const expected = {
      kind: 'issuer-missing',
      subject: `CN=${name}`,
      issuer: 'CN=Test Authority,O=Tests',
      url: undefined,
    }
    assert.deepEqual(await flaw({ chain: made.leaf.pem + stranger.pem, pkey: made.leaf.pkey }), expected)
  })

  it('does not take a namesake for the issuer: the signature counts', async () => {
    const namesake = await makeTestCertificate({
      subject: 'O=Tests,CN=Test Authority',
      authority: true,
      issuer: made.root,
    })
    const refused = await flaw({ chain: made.leaf.pem + namesake.pem, pkey: made.leaf.pkey })
    assert.equal(refused.kind, 'issuer-missing')
    const { chain } = await accepted({
      chain: made.leaf.pem + namesake.pem + made.between.pem + made.root.pem,
      pkey: made.leaf.pkey,
    })
    assert.equal(chain, good().chain)
  })

  it('does not take a certificate of a server for an issuer', async () => {
    const server = await makeTestCertificate({ subject: 'CN=Server', issuer: made.root })
    const leaf = await makeTestCertificate({ subject: `CN=${name}`, names: [name], issuer: server })
    const refused = await flaw({ chain: leaf.pem + server.pem + made.root.pem, pkey: leaf.pkey })
    assert.equal(refused.kind, 'issuer-missing')
  })

  it('accepts a certificate without its chain if a private authority issued it, and refuses it if its issuer can be downloaded', async () => {
    await accepted({ chain: made.leaf.pem, pkey: made.leaf.pkey })
    const url = 'http://authority.example/r.der'
    const leaf = await leafWith({ issuerUrl: url })
    assert.deepEqual(await flaw({ chain: leaf.pem, pkey: leaf.pkey }), {
      kind: 'issuer-missing',
      subject: `CN=${name}`,
      issuer: 'CN=Test Authority,O=Tests',
      url,
    })
    await accepted({ chain: leaf.pem + made.between.pem + made.root.pem, pkey: leaf.pkey })
  })

  it('completes a chain from those that are known', async () => {
    const leaf = await leafWith({ issuerUrl: 'http://authority.example/r.der' })
    const bare = { chain: leaf.pem, pkey: leaf.pkey }
    const { chain } = await accepted(bare, { known: [made.leaf.pem + made.between.pem + made.root.pem] })
    assert.equal(chain, leaf.pem + made.between.pem)
    assert.equal((await flaw(bare, { known: ['nonsense', made.leaf.pem] })).kind, 'issuer-missing')
  })

  it('accepts a certificate that signed itself as its own chain, an authority or not', async () => {
    const own = { subject: `CN=${name}`, names: [name] }
    const stranger = await makeTestCertificate({ subject: 'CN=Stranger', authority: true })
    for (const more of [{}, { authority: true }, { authority: true, keyUse: 'handshakes' }] as const) {
      const signed = await makeTestCertificate({ ...own, ...more })
      for (const chain of [signed.pem, stranger.pem + signed.pem, signed.pem + signed.pem]) {
        assert.equal((await accepted({ chain, pkey: signed.pkey })).chain, signed.pem)
      }
    }
  })

  it('takes the valid one of a self-signed certificate and its renewal', async () => {
    const own = { subject: `CN=${name}`, names: [name], authority: true, key: makeTestKey() }
    const [old, next] = [
      await makeTestCertificate({ ...own, days: [-10, -1] }),
      await makeTestCertificate(own),
    ]
    assert.equal((await accepted({ chain: old.pem + next.pem, pkey: next.pkey })).chain, next.pem)
  })

  it('refuses the certificate of an authority over others, whatever signed it', async () => {
    const own = { subject: `CN=${name}`, names: [name], authority: true }
    const expected = { kind: 'authority', subject: `CN=${name}` }
    const below = await makeTestCertificate({ ...own, issuer: made.between })
    assert.deepEqual(await flaw({ chain: below.pem, pkey: below.pkey }), expected)
    assert.deepEqual(await flaw({ chain: below.pem + made.between.pem, pkey: below.pkey }), expected)
    const root = await makeTestCertificate(own)
    const leaf = await leafWith({ issuer: root })
    assert.deepEqual(await flaw({ chain: leaf.pem + root.pem, pkey: root.pkey }), expected)
    assert.equal((await accepted({ chain: leaf.pem + root.pem, pkey: leaf.pkey })).chain, leaf.pem)
    // Clients refuse such a certificate from a server, even if they trust it as an authority.
    const rootAlone = await makeTestCertificate({ ...own, keyUse: 'certificates' })
    assert.deepEqual(await flaw({ chain: rootAlone.pem, pkey: rootAlone.pkey }), expected)
  })

  it('refuses a certificate that is not for servers', async () => {
    await accepted(below(await leafWith({ uses: [clientUse, serverUse] })))
    const expected = { kind: 'not-for-servers', subject: `CN=${name}` }
    assert.deepEqual(await flaw(below(await leafWith({ uses: [clientUse] }))), expected)
  })

  it('refuses what has expired or is not valid yet, to the moment', async () => {
    const { facts } = await accepted(good())
    const at = (nowMs: number) => read(good(), { nowMs })
    const [from, to] = [facts.notBefore, facts.notAfter]
    assert.ok((await at(from.getTime())).ok && (await at(to.getTime() - 1)).ok)
    const subject = `CN=${name}`
    assert.deepEqual(await at(from.getTime() - 1), {
      ok: false,
      flaw: { kind: 'not-yet-valid', subject, at: from },
    })
    assert.deepEqual(await at(to.getTime()), { ok: false, flaw: { kind: 'expired', subject, at: to } })
  })

  it('refuses a chain of which an upper certificate has expired, but not one with an expired root', async () => {
    const expired = await makeTestCertificate({
      subject: 'CN=Old',
      authority: true,
      issuer: made.root,
      days: [-10, -1],
    })
    const leaf = await leafWith({ issuer: expired })
    assert.deepEqual(await flaw({ chain: leaf.pem + expired.pem + made.root.pem, pkey: leaf.pkey }), {
      kind: 'expired',
      subject: 'CN=Old',
      at: new X509Certificate(expired.pem).validToDate,
    })
    const root = await makeTestCertificate({ subject: 'CN=Old Root', authority: true, days: [-10, -1] })
    const under = await leafWith({ issuer: root })
    assert.equal((await accepted({ chain: under.pem + root.pem, pkey: under.pkey })).chain, under.pem)
  })

  it('prefers the issuer that is valid where a key was certified twice', async () => {
    const twin = await makeTestCertificate({
      subject: 'O=Tests,CN=Test Authority',
      authority: true,
      issuer: made.root,
      key: made.between.key,
      days: [-10, -1],
    })
    const { chain } = await accepted({
      chain: made.leaf.pem + twin.pem + made.between.pem + made.root.pem,
      pkey: made.leaf.pkey,
    })
    assert.equal(chain, good().chain)
  })

  it('refuses what TLS does not take, with its reason', async () => {
    const small = await makeTestCertificate({
      subject: 'CN=Small',
      authority: true,
      issuer: made.root,
      key: makeTestKey('rsa1024'),
    })
    const leaf = await leafWith({ issuer: small })
    const expected = { kind: 'unusable', reason: 'ca key too small' }
    assert.deepEqual(await flaw({ chain: leaf.pem + small.pem, pkey: leaf.pkey }), expected)
  })

  it('refuses a signature with SHA-1, wherever in the chain', async () => {
    assert.deepEqual(await flaw(below(await leafWith({ hash: 'SHA-1' }))), {
      kind: 'weak-signature',
      subject: `CN=${name}`,
      algorithm: 'ecdsa-with-SHA1',
    })
    const rsa = await makeTestCertificate({
      subject: 'CN=Root',
      authority: true,
      key: makeTestKey('rsa2048'),
    })
    const old = { subject: 'CN=Old', authority: true, hash: 'SHA-1', issuer: rsa } as const
    const between = await makeTestCertificate(old)
    const leaf = await leafWith({ issuer: between })
    assert.deepEqual(await flaw({ chain: leaf.pem + between.pem, pkey: leaf.pkey }), {
      kind: 'weak-signature',
      subject: 'CN=Old',
      algorithm: 'sha1WithRSAEncryption',
    })
  })

  it('ends on chains that go round in circles', async () => {
    const [one, two] = [makeTestKey(), makeTestKey()]
    const make = (subject: string, key: typeof one, issuer: MadeCertificate) =>
      makeTestCertificate({ subject, key, issuer, authority: true })
    const seed = { pem: (await makeTestCertificate({ subject: 'CN=B', key: two })).pem, key: two, pkey: '' }
    const a = await make('CN=A', one, seed)
    const b = await make('CN=B', two, a)
    const leaf = await leafWith({ issuer: a })
    const { chain } = await accepted({ chain: b.pem + a.pem + leaf.pem, pkey: leaf.pkey })
    assert.equal(chain, leaf.pem + a.pem + b.pem)
  })

  it('has nothing of the key in the texts of its refusals', async () => {
    const secret = made.leaf.pkey.split('\n')[1]!
    for (const given of [
      { chain: made.leaf.pkey, pkey: made.leaf.pkey },
      { ...good(), pkey: made.leaf.pkey.replace(/^.{10}/m, 'x') },
      { ...good(), pkey: `${made.leaf.pkey}${made.leaf.pkey}` },
      { chain: made.between.pem, pkey: made.leaf.pkey },
      { ...good(), pkey: made.leaf.pkey.replace(/(?<=^M.{20}).{20}/m, '') },
    ]) {
      assert.ok(!JSON.stringify(await flaw(given)).includes(secret.slice(0, 20)))
    }
  })
})

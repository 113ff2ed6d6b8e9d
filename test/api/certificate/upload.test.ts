import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate, makeTestChain } from '../../support/certificate-maker.ts'

const name = 'www.example.com'

describe('uploads of certificates', () => {
  let api: TestApi
  let user: TestUser
  let made: Awaited<ReturnType<typeof makeTestChain>>
  let other: Awaited<ReturnType<typeof makeTestCertificate>>
  before(async () => {
    api = await startTestApi()
    made = await makeTestChain([name])
    other = await makeTestCertificate({ subject: 'CN=*.example.com', names: ['*.example.com'] })
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  const good = (more: object = {}) => ({
    cn: name,
    chain: made.leaf.pem + made.between.pem,
    pkey: made.leaf.pkey,
    ...more,
  })
  const attempt = (body: object | readonly object[]) => user.api.attempt('createCertificates', { body })

  it('never show their key, nor write it into a log, whatever is wrong with the upload', async () => {
    const lines = made.leaf.pkey.split('\n').slice(1, 3)
    const isTold = (text: string) => lines.some((line) => text.includes(line.slice(0, 24)))
    const { uuid } = await user.api.one('createCertificates', { body: good({ name: 'shown' }) })
    const answers = [
      await attempt(good({ cn: 'other.example.org' })),
      await attempt(good({ chain: made.leaf.pkey })),
      await attempt(good({ pkey: made.leaf.pkey + made.leaf.pkey })),
      await attempt(good({ pkey: { text: made.leaf.pkey } })),
      await attempt(good({ pkey: made.leaf.pkey.repeat(100) })),
      await attempt(good({ name: made.leaf.pkey })),
      await attempt([good({ name: 'shown' })]),
      await user.api.attempt('getCertificates', {}),
      await user.api.attempt('getCertificates', { object: uuid }),
    ]
    assert.ok(!isTold(JSON.stringify(answers.filter((_, index) => index !== 5))))
    const cut = JSON.stringify(good()).slice(0, -20)
    const unquoted = `{"pkey": ${made.leaf.pkey}}`
    const bare = `{"pkey":${lines[0]}}`
    for (const body of [cut, unquoted, bare, `{"pkey":"${made.leaf.pkey}"}`]) {
      const answer = await api.send({ method: 'POST', path: '/v1/certificates', token: user.token, body })
      assert.equal(answer.status, 400)
      assert.ok(!/MII|BEGIN|MIG/.test(answer.text), answer.text)
    }
    assert.ok(api.logLines.length > 0)
    assert.ok(!isTold(api.logLines.join('\n')))
  })

  function encrypted() {
    const pem = made.leaf.key.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })
    return { pkey: pem.toString() }
  }
  async function variant(more: object) {
    const subject = { subject: `CN=${name}`, names: [name] }
    const { pem: chain, pkey } = await makeTestCertificate({ ...subject, ...more })
    return { chain, pkey }
  }
  const dated = (days: readonly [number, number]) => variant({ days })
  const authority = () => variant({ authority: true, issuer: made.between })
  const clients = () => variant({ uses: ['1.3.6.1.5.5.7.3.2'] })
  const nameless = () => variant({ subject: 'O=Tests', names: [] })
  const sentences: readonly [string, () => object | Promise<object>, number, RegExp][] = [
    [
      'no PEM',
      () => ({ chain: 'AAAA' }),
      7,
      /'chain' in certificate creation arguments for 'www\.example\.com': it is not PEM.*openssl x509 -inform der/,
    ],
    [
      'a key in the chain',
      () => ({ chain: made.leaf.pkey }),
      7,
      /it holds a 'PRIVATE KEY': that belongs in 'pkey'/,
    ],
    [
      'too many certificates',
      () => ({ chain: made.leaf.pem.repeat(11) }),
      7,
      /it holds 11 certificates, but at most 10/,
    ],
    ['an encrypted key', encrypted, 7, /'pkey' .* it is encrypted: remove the passphrase with 'openssl pkey/],
    [
      'the key of another',
      () => ({ pkey: other.pkey }),
      7,
      /not the key of the certificate 'CN=www\.example\.com'/,
    ],
    [
      'another name',
      () => ({ cn: 'a.example.org' }),
      30,
      /is not for 'a\.example\.org', but for 'www\.example\.com': give one of these/,
    ],
    [
      'an expired one',
      () => dated([-10, -1]),
      7,
      /'CN=www\.example\.com' expired at \d{4}-.*Z: upload a renewed one/,
    ],
    [
      'one of tomorrow',
      () => dated([1, 10]),
      7,
      /'CN=www\.example\.com' is not valid before \d{4}-.*Z: upload it then/,
    ],
    ['an authority', authority, 7, /an authority over others \(basicConstraints CA:TRUE\).*-CA <it>.*alone/],
    ['one for clients', clients, 7, /not for servers \(extendedKeyUsage lacks serverAuth\)/],
    ['no name at all', nameless, 30, /but for no domain at all/],
    [
      'a gap',
      () => ({ chain: made.leaf.pem + other.pem }),
      7,
      /the certificate of 'CN=Test Authority,O=Tests', which issued 'CN=www\.example\.com', is missing: add it/,
    ],
    ['a domain that is none', () => ({ cn: 'a_b.example.com' }), 7, /^Invalid DNS name 'a_b\.example\.com'/],
    [
      'a single label',
      () => ({ cn: 'localhost.' }),
      7,
      /^Invalid DNS name 'localhost\.': it has a single label$/,
    ],
    ['a wildcard inside', () => ({ cn: 'a.*.example.com' }), 7, /^Invalid DNS name/],
    ['an address', () => ({ cn: '192.0.2.1' }), 7, /last label is a number/],
    ['a bad name', () => ({ name: 'a--b' }), 7, /^Invalid name 'a--b'/],
    [
      'too long a chain',
      () => ({ chain: 'x'.repeat(65_537) }),
      22,
      /'chain'.* too long: at most 65536 characters/,
    ],
    [
      'too long a key',
      () => ({ pkey: 'x'.repeat(16_385) }),
      22,
      /'pkey'.* too long: at most 16384 characters/,
    ],
    ['no key', () => ({ pkey: undefined }), 7, /^Missing '\[1\]\.pkey' in certificate creation arguments$/],
    ['an empty key', () => ({ pkey: '' }), 7, /'pkey'.* too short/],
    ['no common name', () => ({ cn: undefined }), 7, /^Missing '\[1\]\.cn'/],
  ]
  for (const [what, make, code, message] of sentences) {
    it(`are refused as a whole request with ${what}`, async () => {
      const answer = await attempt([good({ name: 'sound' }), good(await make())])
      assert.equal(answer.httpStatus, 400)
      assert.equal(answer.errors.length, 1, JSON.stringify(answer.errors))
      assert.match(answer.errors[0]!.message, message)
      assert.equal(answer.errors[0]!.error, code)
      assert.deepEqual(await user.api.call('listCertificates'), [])
    })
  }
})

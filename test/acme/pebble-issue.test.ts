import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { createAcmeIssuer } from '../../src/acme/acme-issuer.ts'
import type { AcmeIssuerOptions, ClosableIssuer } from '../../src/acme/acme-issuer.ts'
import { makeCertificateKey, makeSigningRequest } from '../../src/acme/certificate-key.ts'
import { makeChallengeCertificate } from '../../src/acme/challenge-certificate.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import type { OpenOrder } from '../../src/acme/issuer.ts'
import { ChallengeKind } from '../../src/domain/service/route-feed.ts'
import { certificateOf } from '../../src/x509/key-pair.ts'
import { startPebble } from '../support/pebble.ts'
import type { Pebble } from '../support/pebble.ts'
import { startChallengeServer } from './challenge-server.ts'
import type { ChallengeServer } from './challenge-server.ts'
import { createMemoryStore } from './memory-store.ts'

const never = new AbortController().signal

describe('a certificate from a real authority', () => {
  let pebble: Pebble
  let answers: ChallengeServer
  let opened: ClosableIssuer[]

  before(async () => {
    pebble = await startPebble()
    answers = await startChallengeServer(pebble)
  })
  after(async () => {
    await answers.close()
    await pebble.stop()
  })
  beforeEach(() => {
    opened = []
    answers.http.clear()
    answers.tls.clear()
  })
  afterEach(() => Promise.all(opened.map((issuer) => issuer.close())))

  function issuerOf(options: Partial<AcmeIssuerOptions> = {}): ClosableIssuer {
    const issuer = createAcmeIssuer({
      directoryUrl: pebble.directoryUrl,
      ca: pebble.ca,
      store: createMemoryStore(),
      ...options,
    })
    opened.push(issuer)
    return issuer
  }

  /** Shows challenges as a gateway does. */
  async function show({ challenges }: OpenOrder): Promise<void> {
    for (const challenge of challenges) {
      if (challenge.kind === ChallengeKind.Http01)
        answers.http.set(challenge.token, challenge.keyAuthorization)
      else answers.tls.set(challenge.name, await makeChallengeCertificate(challenge, Date.now()))
    }
  }

  async function issue(issuer: ClosableIssuer, names: readonly string[], kind: ChallengeKind = 'http-01') {
    const key = makeCertificateKey()
    const csr = await makeSigningRequest(key, names)
    const order = await issuer.open(names, {})
    await show(order)
    await issuer.prove(order, kind, never)
    await issuer.finalise(order.url, csr, never)
    const chain = await issuer.download(order.url, csr)
    return { order, csr, chain, leaf: certificateOf({ chain, key }) }
  }

  async function assertTrusted(chain: string): Promise<void> {
    const [leaf, intermediate, ...rest] = chain
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem))
    assert.ok(leaf?.verify(intermediate!.publicKey))
    assert.ok(intermediate?.verify(new X509Certificate(await pebble.root()).publicKey))
    assert.deepEqual(rest, [])
  }

  for (const kind of Object.values(ChallengeKind)) {
    it(`comes for a name that is proved by ${kind}`, async () => {
      const { chain, leaf } = await issue(issuerOf(), [`${kind}.example.test`], kind)
      assert.equal(leaf.checkHost(`${kind}.example.test`), `${kind}.example.test`)
      await assertTrusted(chain)
    })
  }

  it('comes for several names at once, and is the same at every download', async () => {
    const issuer = issuerOf()
    const names = ['a.example.test', 'b.example.test', 'c.example.test']
    const { chain, leaf, order, csr } = await issue(issuer, names)
    for (const name of names) assert.equal(leaf.checkHost(name), name)
    assert.equal(await issuer.download(order.url, csr), chain)
  })

  it('can be continued by another process at every step, with one order', async () => {
    const store = createMemoryStore()
    const names = ['steps.example.test']
    const csr = await makeSigningRequest(makeCertificateKey(), names)
    const { url } = await issuerOf({ store }).open(names, {})
    const found = await issuerOf({ store }).find(url)
    assert.equal(found?.state, 'pending')
    await show(found)
    await issuerOf({ store }).prove(found, 'http-01', never)
    assert.equal((await issuerOf({ store }).find(url))?.state, 'ready')
    await issuerOf({ store }).prove(found, 'http-01', never)
    await issuerOf({ store }).finalise(url, csr, never)
    assert.equal((await issuerOf({ store }).find(url))?.state, 'valid')
    await issuerOf({ store }).finalise(url, csr, never)
    const chains = [
      await issuerOf({ store }).download(url, csr),
      await issuerOf({ store }).download(url, csr),
    ]
    assert.equal(chains[0], chains[1])
    assert.equal(store.records.size, 1)
  })

  it('comes for several orders at once as well', async () => {
    const issuer = issuerOf()
    const names = Array.from({ length: 6 }, (_, index) => `many-${index}.example.test`)
    const issued = await Promise.all(names.map((name) => issue(issuer, [name])))
    for (const [index, { leaf }] of issued.entries()) assert.ok(leaf.checkHost(names[index]!))
  })

  it('does not come if the wrong answer is shown, and the failure tells what the authority saw', async () => {
    const issuer = issuerOf()
    const order = await issuer.open(['wrong.example.test'], {})
    for (const { token } of order.challenges) answers.http.set(token, `${token}.of-somebody-else`)
    const error = await failure(issuer.prove(order, 'http-01', never))
    assert.equal(error.kind, 'failed')
    assert.match(error.problem?.type ?? '', /unauthorized|incorrectResponse/)
    assert.match(error.message, /wrong\.example\.test/)
    assert.equal((await issuer.find(order.url))?.state, 'invalid')
    // The order has failed. So each further proof of it fails as well.
    assert.equal((await failure(issuer.prove(order, 'http-01', never))).kind, 'failed')
  })

  it('does not come if no server answers', async () => {
    const issuer = issuerOf()
    await pebble.dns.setA('away.example.test', ['127.0.0.77'])
    const order = await issuer.open(['away.example.test'], {})
    const error = await failure(issuer.prove(order, 'http-01', never))
    assert.deepEqual([error.kind, error.problem?.type], ['failed', 'urn:ietf:params:acme:error:connection'])
  })

  it('does not come for a proof by TLS with the certificate of another key', async () => {
    const issuer = issuerOf()
    const order = await issuer.open(['other-key.example.test'], {})
    const pair = await makeChallengeCertificate(
      { name: 'other-key.example.test', keyAuthorization: 'another' },
      Date.now(),
    )
    answers.tls.set('other-key.example.test', pair)
    const error = await failure(issuer.prove(order, 'tls-alpn-01', never))
    assert.equal(error.kind, 'failed')
  })

  it('is refused for what is no name of the internet', async () => {
    assert.equal((await failure(issuerOf().open(['127.0.0.1'], {}))).kind, 'failed')
    assert.equal((await failure(issuerOf().open(['under_score.test'], {}))).kind, 'failed')
  })

  it('comes only from an authority whose own TLS fits the file', async () => {
    const stranger = issuerOf({ ca: await pebble.root() })
    const error = await failure(stranger.open(['www.example.test'], {}))
    assert.equal(error.kind, 'later')
    assert.match(error.message, /can not be reached/)
  })

  describe('with all difficulties that Pebble can make', () => {
    before(() => pebble.restart({ nonceReject: 30, sleepS: 2, authorizationReuse: 100, alternateRoots: 2 }))
    after(() => pebble.restart())

    it('comes although nonces are refused, checks are slow, and there are several chains', async () => {
      const { chain } = await issue(issuerOf(), ['hard.example.test'])
      await assertTrusted(chain)
    })

    it('comes without a proof if an older proof is used again', async () => {
      const issuer = issuerOf()
      await issue(issuer, ['again.example.test'])
      answers.http.clear()
      answers.asked.length = 0
      const { order, chain } = await issue(issuer, ['again.example.test'])
      assert.deepEqual([order.state, order.challenges, answers.asked], ['ready', [], []])
      await assertTrusted(chain)
    })

    it('can be called off while the authority checks', async () => {
      const issuer = issuerOf()
      const order = await issuer.open(['enough.example.test'], {})
      await assert.rejects(issuer.prove(order, 'http-01', AbortSignal.timeout(200)), { name: 'TimeoutError' })
      await show(order)
      await assert.rejects(issuer.prove(order, 'http-01', AbortSignal.abort(new Error('no'))), /^Error: no$/)
    })
  })

  it('comes from an account that is made again, with the same key, after the authority forgot it', async () => {
    const store = createMemoryStore()
    const issuer = issuerOf({ store })
    await issue(issuer, ['before.example.test'])
    const before = store.records.get(pebble.directoryUrl)
    await pebble.restart()
    await issue(issuer, ['after.example.test'])
    const after = store.records.get(pebble.directoryUrl)
    assert.equal(after?.key, before?.key)
    assert.notEqual(after?.accountUrl, before?.accountUrl)
  })
})

describe('an authority that requires an external account', () => {
  const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
  let pebble: Pebble
  before(async () => {
    pebble = await startPebble({ externalAccounts: { 'kid-1': hmacKey } })
  })
  after(() => pebble.stop())

  async function open(externalAccount?: { keyId: string; hmacKey: string }): Promise<OpenOrder> {
    const issuer = createAcmeIssuer({
      directoryUrl: pebble.directoryUrl,
      ca: pebble.ca,
      store: createMemoryStore(),
      ...(externalAccount && { externalAccount }),
    })
    try {
      return await issuer.open(['www.example.test'], {})
    } finally {
      await issuer.close()
    }
  }

  it('takes an ACME account that is bound to an external account', async () => {
    assert.equal((await open({ keyId: 'kid-1', hmacKey })).state, 'pending')
  })

  it('takes no other ACME account, and the failure does not repeat the key', async () => {
    const wrongKey = `${hmacKey.slice(0, -4)}AAAA`
    for (const account of [undefined, { keyId: 'kid-2', hmacKey }, { keyId: 'kid-1', hmacKey: wrongKey }]) {
      const error = await failure(open(account))
      assert.equal(error.kind, 'failed')
      assert.ok(
        !JSON.stringify([error.message, error.problem, String(error.cause)]).includes(hmacKey.slice(0, 8)),
      )
    }
  })
})

async function failure(call: Promise<unknown>): Promise<IssueError> {
  const error = await call.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof IssueError, String(error))
  return error
}

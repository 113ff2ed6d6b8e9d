import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createAcmeIssuer } from '../../src/acme/acme-issuer.ts'
import type { ClosableIssuer } from '../../src/acme/acme-issuer.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import { certificateIdentifier } from '../../src/acme/renewal-information.ts'
import { issueLeaf, makeRoot } from '../../src/x509/authority.ts'
import { cryptoKeysOf, makeKey } from '../../src/x509/key-pair.ts'
import { createMemoryStore } from './memory-store.ts'
import { json, problem, startStubAuthority } from './stub-authority.ts'
import type { StubAuthority } from './stub-authority.ts'

const hourMs = 3_600_000
/** The example of RFC 9773, appendix A. */
const exampleCertificate = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`
const exampleIdentifier = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE'

describe('renewal information', () => {
  let stub: StubAuthority
  let issuer: ClosableIssuer
  let nowMs: number

  beforeEach(async () => {
    nowMs = Date.parse('2030-05-01T12:00:00Z')
    stub = await startStubAuthority()
    stub.directory['renewalInfo'] = `${stub.url}/renewal`
    const clock = { nowMs: () => nowMs, wait: () => assert.fail('nothing is to be waited for') }
    issuer = createAcmeIssuer({ directoryUrl: stub.directoryUrl, store: createMemoryStore(), clock })
  })
  afterEach(async () => {
    await issuer.close()
    await stub.close()
  })

  const answer = (told: (response: ServerResponse) => unknown) =>
    stub.answers.set(`/renewal/${exampleIdentifier}`, (_request, response) => told(response))
  const window = { start: '2030-06-01T00:00:00Z', end: '2030-06-03T00:00:00Z' }

  it('names a certificate as the RFC does, with the sign of its serial number', async () => {
    assert.equal(await certificateIdentifier(exampleCertificate), exampleIdentifier)
    const key = makeKey()
    const root = await makeRoot({ commonName: 'root' }, nowMs)
    const chain = await issueLeaf(root, {
      names: ['www.example.test'],
      publicKey: cryptoKeysOf(key).publicKey,
      serialNumber: '7f00',
      notBeforeMs: nowMs,
      notAfterMs: nowMs + hourMs,
    })
    assert.match((await certificateIdentifier(chain)) ?? '', /^[\w-]{27}\.fwA$/)
  })

  it('tells the window, and when to ask again', async () => {
    answer((response) => json(response.setHeader('retry-after', '21600'), 200, { suggestedWindow: window }))
    assert.deepEqual(await issuer.renewalWindow(exampleCertificate), {
      startMs: Date.parse(window.start),
      endMs: Date.parse(window.end),
      askAgainMs: nowMs + 6 * hourMs,
    })
  })

  it('is asked for again after a minute at least, and after a day at most', async () => {
    for (const [retryAfter, afterMs] of [
      ['0', 60_000],
      ['999999', 24 * hourMs],
      ['whenever', 6 * hourMs],
      [undefined, 6 * hourMs],
    ] as const) {
      answer((response) => {
        if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
        json(response, 200, { suggestedWindow: window })
      })
      assert.equal((await issuer.renewalWindow(exampleCertificate))?.askAgainMs, nowMs + afterMs)
    }
  })

  it('is undefined if the authority has none, or none for this certificate', async () => {
    answer((response) => problem(response, 404, 'malformed', 'what certificate?'))
    assert.equal(await issuer.renewalWindow(exampleCertificate), undefined)
    delete stub.directory['renewalInfo']
    const plain = createAcmeIssuer({ directoryUrl: stub.directoryUrl, store: createMemoryStore() })
    assert.equal(await plain.renewalWindow(exampleCertificate), undefined)
    await plain.close()
  })

  it('without a valid window is a failure that may be tried again later', async () => {
    for (const suggestedWindow of [
      undefined,
      'tomorrow',
      {},
      { start: window.end, end: window.start },
      { start: window.start },
    ]) {
      answer((response) => json(response, 200, { suggestedWindow }))
      await assert.rejects(
        issuer.renewalWindow(exampleCertificate),
        (error: unknown) => error instanceof IssueError && error.kind === 'later',
      )
    }
  })

  describe('in an order', () => {
    const orders = () => stub.requests.filter(({ path }) => path === '/order').map(({ payload }) => payload)
    const identifiers = [{ type: 'dns', value: 'www.example.test' }]
    const renew = () => issuer.open(['www.example.test'], { replacesChain: exampleCertificate })

    it('names the certificate that it replaces, if the authority offers renewal information', async () => {
      await renew()
      assert.deepEqual(orders(), [{ identifiers, replaces: exampleIdentifier }])
    })

    it('is left out if the authority does not offer it', async () => {
      delete stub.directory['renewalInfo']
      await renew()
      assert.deepEqual(orders(), [{ identifiers }])
    })

    it('does not fail a renewal: if the authority refuses it, the order is made without it', async () => {
      stub.answers.set('/order', ({ payload }, response) =>
        'replaces' in (payload as object)
          ? problem(response, 409, 'alreadyReplaced', 'that one has a successor')
          : false,
      )
      assert.equal((await renew()).state, 'ready')
      assert.deepEqual(orders(), [{ identifiers, replaces: exampleIdentifier }, { identifiers }])
    })

    it('makes no second order if a failure has nothing to do with it', async () => {
      stub.answers.set('/order', (_request, response) => problem(response, 429, 'rateLimited', 'too many'))
      await assert.rejects(renew(), IssueError)
      assert.equal(orders().length, 1)
    })
  })
})

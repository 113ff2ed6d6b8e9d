import { strict as assert } from 'node:assert'
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { MockActivityEnvironment } from '@temporalio/testing'
import { ApplicationFailure } from '@temporalio/common'
import { createCertificateActivities } from '../../../activities/certificate/activities.ts'
import type { CertificateActivities } from '../../../activities/certificate/activities.ts'
import type { NameSeen } from '../../../src/acme/diagnosis.ts'
import { IssueError } from '../../../src/acme/issuer.ts'
import type { Issuer } from '../../../src/acme/issuer.ts'
import { lastAttempts } from '../../../src/db/certificate/attempts.ts'
import { findOrder } from '../../../src/db/certificate/orders.ts'
import { loadForIssue, recordCertificate } from '../../../src/db/certificate/records.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { certificateKeyContext } from '../../../src/db/service/feed-routes.ts'
import type { PortState, WebAnswer } from '../../../src/domain/certificate/attempt-report.ts'
import type { CertificateLifeEvent } from '../../../src/domain/certificate/lifecycle.ts'
import type { OrderPace } from '../../../src/domain/certificate/order-pace.ts'
import { ChallengeKind } from '../../../src/domain/service/route-feed.ts'
import { addUser, testSecretBox } from '../../support/accounts.ts'
import { FakeIssuer } from '../../support/fake-issuer.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const directory = 'https://fake.test/dir'
const hourMs = 3_600_000

describe('a step to a certificate', () => {
  let own: TestDatabase
  let database: Database
  let userUuid: string
  let uuid: string
  let commonName: string
  let issuer: FakeIssuer
  let seen: NameSeen
  let clockMs: number
  let looks: number
  let pace: OrderPace | undefined

  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'certificate steps' })
    userUuid = (await addUser(database, { name: 'ann' })).uuid
  })
  after(async () => {
    await database.close()
    await own.drop()
  })
  beforeEach(async () => {
    uuid = randomUUID()
    commonName = `shop-${uuid.slice(0, 8)}.example.test`
    issuer = new FakeIssuer()
    seen = seenFrom({ web: 'open', answer: 'expected', tls: 'open' })
    clockMs = Date.now()
    looks = 0
    pace = undefined
    await rows(
      `insert into certificates (uuid, user_uuid, name, common_name, state) values ($1, $2, $3, $4, 'pending')`,
      [uuid, userUuid, `cert-${uuid.slice(0, 8)}`, commonName],
    )
  })

  const rows = <Row>(text: string, values: readonly unknown[] = [uuid]) =>
    readRows<Row>(database, { text, values })
  const shown = () =>
    rows<{ kind: string; key: string | null }>(
      'select kind, key_sealed as key from acme_challenges where certificate_uuid = $1',
    )

  function seenFrom(of: { web: PortState; answer?: WebAnswer; tls: PortState }): NameSeen {
    const at = { address: '192.0.2.7', scope: 'public' } as const
    return {
      name: commonName,
      dns: { a: { found: ['192.0.2.7'] }, aaaa: { found: [] }, cname: [] },
      caa: { records: [] },
      web: [{ ...at, state: of.web, ...(of.answer !== undefined && { answer: of.answer }) }],
      tls: [{ ...at, state: of.tls }],
    }
  }

  function run(step: keyof CertificateActivities, by: Issuer = issuer): Promise<CertificateLifeEvent> {
    const activities = createCertificateActivities({
      database,
      secretBox: testSecretBox,
      issuer: by,
      directory,
      diagnosis: {
        look: async () => {
          looks++
          return seen
        },
      },
      ...(pace && { pace }),
      // Each reading of the clock moves it on, so that no test waits for a challenge that is not shown.
      nowMs: () => (clockMs += 500),
    })
    return new MockActivityEnvironment().run(activities[step], { certificateUuid: uuid })
  }

  async function runAll(): Promise<CertificateLifeEvent> {
    await run('orderCertificate')
    await run('proveCertificate')
    await run('finaliseCertificate')
    return run('installCertificate')
  }

  const lastAttempt = async () => (await lastAttempts(database, uuid))[0]

  it('after another leads to a certificate with its key, and leaves only the report', async () => {
    const event = await runAll()
    assert.equal(event.kind, 'installed')
    const [row] = await rows<{ chain: string; key: string; serial: string }>(
      'select chain, key_sealed as key, serial_number as serial from certificates where uuid = $1',
    )
    const leaf = new X509Certificate(row!.chain)
    assert.ok(
      leaf.checkPrivateKey(createPrivateKey(testSecretBox.open(row!.key, certificateKeyContext(uuid)))),
    )
    assert.equal(leaf.serialNumber, row!.serial)
    assert.deepEqual(event.validity.notAfterMs, leaf.validToDate.getTime())
    assert.deepEqual(
      [await shown(), await findOrder({ database, secretBox: testSecretBox }, uuid, directory)],
      [[], undefined],
    )
    const attempt = await lastAttempt()
    assert.ok(attempt?.endedAt)
    const { outcome, challenge, authority, dns, caaIdentities } = attempt.report
    assert.deepEqual(
      [outcome, challenge, authority, dns, caaIdentities],
      ['issued', 'http-01', 'the fake authority', seen.dns, ['fake.test']],
    )
  })

  for (const step of [
    'orderCertificate',
    'proveCertificate',
    'finaliseCertificate',
    'installCertificate',
  ] as const) {
    it(`that is repeated, ${step}, still leads to one certificate by one order`, async () => {
      const steps = [
        'orderCertificate',
        'proveCertificate',
        'finaliseCertificate',
        'installCertificate',
      ] as const
      for (const one of steps) {
        const first = await run(one)
        if (one === step) assert.deepEqual(await run(one), first)
      }
      assert.equal(issuer.made.length, 1)
      assert.equal((await lastAttempts(database, uuid)).length, 1)
    })
  }

  it('stores the key before it asks for an order, and goes on with it', async () => {
    issuer.faults.failureOf = (call, nth) =>
      call === 'open' && nth === 1 ? new IssueError('later', 'away', { retryAtMs: 5 }) : undefined
    assert.deepEqual(await run('orderCertificate'), {
      kind: 'step-failed',
      step: 'order',
      verdict: 'later',
      reason: 'away',
      retryAtMs: 5,
    })
    const kept = await findOrder({ database, secretBox: testSecretBox }, uuid, directory)
    assert.ok(kept !== undefined && kept.orderUrl === undefined)
    assert.deepEqual(await run('orderCertificate'), { kind: 'step-done', step: 'order' })
    const again = await findOrder({ database, secretBox: testSecretBox }, uuid, directory)
    assert.equal(again?.keyPem, kept.keyPem)
    assert.equal((await lastAttempts(database, uuid)).length, 1)
  })

  it('asks the authority for nothing while its user has no order left, says so, and goes on when there is one', async () => {
    pace = { orders: 1, windowMs: hourMs, nameOrders: 5 }
    const first = clockMs
    await run('orderCertificate')
    await rows('delete from certificate_orders where certificate_uuid = $1')
    const calls = issuer.calls.length
    const event = await run('orderCertificate')
    assert.ok(event.kind === 'step-failed' && event.verdict === 'later')
    assert.match(event.reason, /^1 certificate was ordered for this account within 1 h/)
    assert.equal(issuer.calls.length, calls)
    const attempt = await lastAttempt()
    assert.deepEqual([attempt?.endedAt, attempt?.report['outcome']], [null, 'paced'])
    const { retryAtMs = 0 } = event
    assert.ok(retryAtMs > first + hourMs && retryAtMs < clockMs + hourMs)
    clockMs = retryAtMs
    assert.deepEqual(await run('orderCertificate'), { kind: 'step-done', step: 'order' })
  })

  it('does not count an order that the authority did not take', async () => {
    pace = { orders: 1, windowMs: hourMs, nameOrders: 5 }
    clockMs += 24 * hourMs
    issuer.faults.failureOf = (call, nth) =>
      call === 'open' && nth < 3 ? new IssueError('later', 'away') : undefined
    for (let count = 0; count < 2; count++)
      assert.partialDeepStrictEqual(await run('orderCertificate'), { reason: 'away' })
    assert.deepEqual(await run('orderCertificate'), { kind: 'step-done', step: 'order' })
  })

  for (const state of ['lost', 'invalid'] as const) {
    it(`gives up an order that is ${state} at the authority, with its key, and makes a new one`, async () => {
      await run('orderCertificate')
      const before = await findOrder({ database, secretBox: testSecretBox }, uuid, directory)
      issuer.setState(before!.orderUrl!, state)
      const { kind } = await run('proveCertificate')
      assert.equal(kind, 'step-failed')
      await run('orderCertificate')
      const after = await findOrder({ database, secretBox: testSecretBox }, uuid, directory)
      assert.notEqual(after?.orderUrl, before?.orderUrl)
      assert.notEqual(after?.keyPem, before?.keyPem)
      assert.equal(issuer.made.length, 2)
    })
  }

  it('shows the challenge while the authority looks, hides it after a failure, and tells what the authority said', async () => {
    await run('orderCertificate')
    let atLook: unknown
    issuer.onLook = async () => {
      atLook = await shown()
      const problem = { type: 'urn:ietf:params:acme:error:unauthorized', detail: 'another page', status: 403 }
      throw new IssueError('failed', 'the authority saw another page', { problem })
    }
    const event = await run('proveCertificate')
    assert.deepEqual(event, {
      kind: 'step-failed',
      step: 'prove',
      verdict: 'failed',
      reason: 'the authority saw another page',
    })
    assert.deepEqual(atLook, [{ kind: 'http-01', key: null }])
    assert.deepEqual(await shown(), [])
    const attempt = await lastAttempt()
    assert.ok(attempt?.endedAt)
    assert.deepEqual((attempt.report['problem'] as { detail: string }).detail, 'another page')
  })

  it('that is postponed leaves the challenge where it is, and the attempt open', async () => {
    await run('orderCertificate')
    issuer.faults.failureOf = (call) => (call === 'prove' ? new IssueError('later', 'busy') : undefined)
    await run('proveCertificate')
    assert.equal((await shown()).length, 1)
    assert.equal((await lastAttempt())?.endedAt, null)
    issuer.faults.failureOf = () => undefined
    assert.deepEqual(await run('proveCertificate'), { kind: 'step-done', step: 'prove' })
  })

  it('proves by TLS where port 80 is closed and 443 is not, with a certificate whose key is sealed', async () => {
    seen = seenFrom({ web: 'refused', tls: 'open' })
    await run('orderCertificate')
    let atLook: readonly { kind: string; key: string | null }[] = []
    issuer.onLook = async ({ kind }) => {
      assert.equal(kind, ChallengeKind.TlsAlpn01)
      atLook = await shown()
    }
    assert.deepEqual(await run('proveCertificate'), { kind: 'step-done', step: 'prove' })
    assert.deepEqual(
      atLook.map(({ kind }) => kind),
      ['tls-alpn-01'],
    )
    assert.ok(atLook[0]?.key && !atLook[0].key.includes('PRIVATE KEY'))
  })

  it('proves by HTTP where no port is seen from here, or where only HTTP is offered', async () => {
    for (const one of [
      { web: 'refused', tls: 'refused', offers: undefined },
      { web: 'refused', tls: 'open', offers: [ChallengeKind.Http01] },
    ] as const) {
      seen = seenFrom(one)
      issuer = new FakeIssuer(one.offers === undefined ? {} : { offers: one.offers })
      await rows('delete from certificate_orders where certificate_uuid = $1')
      await run('orderCertificate')
      const kinds: string[] = []
      issuer.onLook = async ({ kind }) => void kinds.push(kind)
      await run('proveCertificate')
      assert.deepEqual(kinds, ['http-01'])
    }
  })

  it('looks only once where the name may not be asked, and proves by HTTP', async () => {
    seen = seenFrom({ web: 'not-asked', tls: 'not-asked' })
    await run('orderCertificate')
    assert.deepEqual(await run('proveCertificate'), { kind: 'step-done', step: 'prove' })
    assert.equal(looks, 1)
    assert.equal((await lastAttempt())?.report['challenge'], 'http-01')
  })

  it('installs no certificate that is for another key or not valid now, and forgets its order', async () => {
    await runAll()
    const other = (await loadForIssue(database, uuid))?.chain
    issuer.faults.chain = other!
    for (const step of ['orderCertificate', 'proveCertificate', 'finaliseCertificate'] as const)
      await run(step)
    const event = await run('installCertificate')
    assert.ok(event.kind === 'step-failed' && /it is for another key/.test(event.reason))
    assert.equal((await loadForIssue(database, uuid))?.chain, other)
    delete issuer.faults.chain
    for (const step of ['orderCertificate', 'proveCertificate', 'finaliseCertificate'] as const)
      await run(step)
    clockMs += 400 * 24 * hourMs
    const late = await run('installCertificate')
    assert.ok(late.kind === 'step-failed' && /it has ended at/.test(late.reason))
    assert.equal(issuer.made.length, 3)
  })

  it('of a renewal keeps the served certificate until the last step, and names it to the authority', async () => {
    await runAll()
    await recordCertificate(database, { uuid, revision: 1 }, { state: 'valid', attempt: 0 })
    const chain = (await loadForIssue(database, uuid))?.chain
    for (const step of ['orderCertificate', 'proveCertificate', 'finaliseCertificate'] as const)
      await run(step)
    assert.equal((await loadForIssue(database, uuid))?.chain, chain)
    assert.equal(issuer.made[1]?.replacesChain, chain)
    assert.equal((await run('installCertificate')).kind, 'installed')
    assert.notEqual((await loadForIssue(database, uuid))?.chain, chain)
    assert.equal((await lastAttempts(database, uuid)).length, 2)
  })

  it('of any kind finds that the certificate is gone, and asks nothing of the authority', async () => {
    await rows('delete from certificates where uuid = $1')
    for (const step of [
      'orderCertificate',
      'proveCertificate',
      'finaliseCertificate',
      'installCertificate',
      'findRenewalAdvice',
    ] as const) {
      assert.deepEqual(await run(step), { kind: 'gone' })
    }
    assert.deepEqual(issuer.calls, [])
  })

  it('that breaks off leaves its error text out of the history', async () => {
    issuer.faults.failureOf = (call) => (call === 'open' ? '-----BEGIN PRIVATE KEY-----' : undefined)
    await assert.rejects(run('orderCertificate'), (error) => {
      assert.ok(error instanceof ApplicationFailure && error.cause === undefined)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /PRIVATE/)
      return true
    })
  })

  it('tells when the authority advises the renewal, and nothing if it does not answer', async () => {
    await runAll()
    issuer.window = { startMs: 5, endMs: 9, askAgainMs: 7 }
    const advice = { window: { startMs: 5, endMs: 9 }, askAgainAtMs: 7 }
    assert.deepEqual(await run('findRenewalAdvice'), { kind: 'renewal-advised', advice })
    issuer.faults.failureOf = () => new IssueError('later', 'away', { retryAtMs: 3 })
    assert.deepEqual(await run('findRenewalAdvice'), {
      kind: 'renewal-advised',
      advice: { askAgainAtMs: 3 },
    })
  })
})

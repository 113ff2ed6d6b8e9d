import { strict as assert } from 'node:assert'
import {
  addAttempt,
  endAttempt,
  lastAttempts,
  maxKeptAttempts,
  noteAttempt,
} from '../../../src/db/certificate/attempts.ts'
import {
  clearOrder,
  dropChallenges,
  ensureOrderKey,
  findOrder,
  putChallenges,
  setOrderUrl,
} from '../../../src/db/certificate/orders.ts'
import {
  findUnstartedCertificates,
  installCertificate,
  loadForIssue,
  markCertificateWorkflowStarted,
  recordCertificate,
} from '../../../src/db/certificate/records.ts'
import { deleteCertificate } from '../../../src/db/certificate/delete.ts'
import { certificateKeyContext, challengeKeyContext } from '../../../src/db/service/feed-routes.ts'
import { uploadCertificate } from '../../../src/db/certificate/upload.ts'
import { ChallengeKind } from '../../../src/domain/service/route-feed.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { createSecretBox } from '../../../src/db/secret-box.ts'
import { serviceRecords } from '../../support/service-records.ts'

const facts = {
  subject: 'CN=x',
  issuer: 'CN=y',
  serialNumber: '0A',
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2100-01-01T00:00:00Z'),
}
const directory = 'https://authority.example/dir'
/** The tables whose rows belong to a certificate. */
const ownTables = ['certificateOrders', 'acmeChallenges', 'certificateAttempts'] as const

describe('what the workflow of a certificate reads and writes', () => {
  const { database, newUser, addCertificate } = serviceRecords()
  const deps = () => ({ database: database(), secretBox: testSecretBox })
  let names = 0

  const requested = async () => {
    const user = await newUser()
    const uuid = await addCertificate(user, 'c', `n${names++}.example`, 'pending')
    return { user, uuid, remove: () => deleteCertificate(database(), user.uuid, uuid) }
  }
  const brought = async () => {
    const user = await newUser()
    const outcome = await uploadCertificate(deps(), {
      userUuid: user.uuid,
      commonName: `n${names++}.example`,
      chain: 'the chain',
      keyPem: 'the key',
      facts,
    })
    assert.ok(outcome.ok)
    return outcome.certificate.uuid
  }
  const row = async (uuid: string) => {
    const { db } = database()
    return db.selectFrom('certificates').selectAll().where('uuid', '=', uuid).executeTakeFirstOrThrow()
  }
  const count = async (table: (typeof ownTables)[number], uuid: string) => {
    const { rows } = await database()
      .db.selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .where('certificateUuid', '=', uuid)
      .executeTakeFirstOrThrow()
    return rows
  }
  const challenge = (token: string) => ({
    token,
    kind: ChallengeKind.Http01,
    fqdn: 'n.example',
    keyAuthorization: `${token}.thumb`,
  })
  let made = 0
  const makeKeyPem = () => `key ${made++}`

  it('finds requested certificates whose workflow was not started, once they are old enough, with their life', async () => {
    const { uuid, user } = await requested()
    const uploaded = await brought()
    const find = async (olderThanMs: number) =>
      (await findUnstartedCertificates(database(), { olderThanMs, limit: 1_000 })).filter(
        ({ certificateUuid }) => certificateUuid === uuid || certificateUuid === uploaded,
      )
    assert.deepEqual(await find(60_000), [])
    const { commonName } = await row(uuid)
    const settings = { certificateUuid: uuid, name: 'c', userUuid: user.uuid, commonName }
    assert.deepEqual(await find(-60_000), [settings])
    const nextAt = new Date('2026-05-01T00:00:00.123Z')
    const state = CertificateState.Pending
    await recordCertificate(database(), { uuid, revision: 4 }, { state, attempt: 2, nextAt, failure: 'no' })
    assert.deepEqual(await find(-60_000), [])
    const { db } = database()
    await db.updateTable('certificates').set({ workflowStartedAt: null }).where('uuid', '=', uuid).execute()
    const recorded = { state, attempt: 2, revision: 4, nextAtMs: nextAt.getTime(), failure: 'no' }
    assert.deepEqual(await find(-60_000), [{ ...settings, recorded }])
    await markCertificateWorkflowStarted(database(), [uuid, uploaded])
    assert.deepEqual(await find(-60_000), [])
    assert.equal((await row(uploaded)).workflowStartedAt, null)
  })

  it('records a newer revision, ignores an older or repeated one, and tells whether the row is there', async () => {
    const { uuid, remove } = await requested()
    const record = (
      revision: number,
      attempt: number,
      state = CertificateState.Pending as CertificateState,
    ) => recordCertificate(database(), { uuid, revision }, { state, attempt })
    assert.ok(await record(2, 1))
    assert.ok(await record(2, 7))
    assert.ok(await record(1, 8))
    assert.partialDeepStrictEqual(await row(uuid), { attempt: 1, revision: 2, nextAt: null, failure: null })
    assert.ok(await record(3, 0, CertificateState.Valid))
    assert.partialDeepStrictEqual(await row(uuid), { attempt: 0, revision: 3, state: 'valid' })
    await remove()
    assert.equal(await record(4, 0), false)
  })

  it('never touches what was uploaded', async () => {
    const uuid = await brought()
    const before = await row(uuid)
    const state = CertificateState.Error
    assert.equal(await recordCertificate(database(), { uuid, revision: 1 }, { state, attempt: 1 }), false)
    assert.equal(await installCertificate(deps(), uuid, { chain: 'other', keyPem: 'k', facts }), false)
    assert.equal(await loadForIssue(database(), uuid), undefined)
    assert.equal(await ensureOrderKey(deps(), { uuid, directory, makeKeyPem }), undefined)
    assert.equal(await putChallenges(deps(), uuid, [challenge(`u-${uuid}`)]), false)
    assert.deepEqual(await row(uuid), before)
    assert.deepEqual([await count('certificateOrders', uuid), await count('acmeChallenges', uuid)], [0, 0])
  })

  it('installs chain, key and facts at once, and ends order and challenges with it', async () => {
    const { uuid } = await requested()
    await ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
    await putChallenges(deps(), uuid, [challenge(`i-${uuid}`)])
    assert.ok(await installCertificate(deps(), uuid, { chain: 'one', keyPem: 'first key', facts }))
    const first = await row(uuid)
    assert.partialDeepStrictEqual(first, {
      chain: 'one',
      state: 'pending',
      subject: 'CN=x',
      issuer: 'CN=y',
      serialNumber: '0A',
      notBefore: facts.notBefore,
      notAfter: facts.notAfter,
    })
    const key = testSecretBox.open(String(first.keySealed), certificateKeyContext(uuid))
    assert.equal(key, 'first key')
    assert.deepEqual([await count('certificateOrders', uuid), await count('acmeChallenges', uuid)], [0, 0])
    await installCertificate(deps(), uuid, { chain: 'one', keyPem: 'first key', facts })
    assert.deepEqual(await row(uuid), first)
    const renewed = { ...facts, serialNumber: '0B' }
    await installCertificate(deps(), uuid, { chain: 'two', keyPem: 'second key', facts: renewed })
    const second = await row(uuid)
    assert.partialDeepStrictEqual(second, { chain: 'two', serialNumber: '0B' })
    assert.notEqual(second.feedXid, first.feedXid)
    assert.partialDeepStrictEqual(await loadForIssue(database(), uuid), {
      names: [second.commonName],
      state: 'pending',
      chain: 'two',
      notAfter: facts.notAfter,
    })
  })

  it('installs nothing where the certificate is gone', async () => {
    const { uuid, remove } = await requested()
    await remove()
    assert.equal(await installCertificate(deps(), uuid, { chain: 'one', keyPem: 'key', facts }), false)
    assert.equal(await loadForIssue(database(), uuid), undefined)
    assert.equal(await ensureOrderKey(deps(), { uuid, directory, makeKeyPem }), undefined)
    assert.equal(await putChallenges(deps(), uuid, [challenge(`g-${uuid}`)]), false)
    assert.equal(await addAttempt(database(), uuid), undefined)
  })

  it('keeps the first key and the first URL of an order, whoever asks again', async () => {
    const { uuid } = await requested()
    const ensure = () => ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
    const kept = await Promise.all(Array.from({ length: 5 }, ensure))
    const [{ keyPem } = { keyPem: '' }] = kept
    assert.match(keyPem, /^key \d+$/)
    assert.deepEqual(
      kept,
      kept.map(() => ({ keyPem })),
    )
    const set = (orderUrl: string) => setOrderUrl(database(), { uuid, directory, orderUrl })
    assert.deepEqual([await set('one'), await set('two')], ['one', 'one'])
    assert.deepEqual(await ensure(), { keyPem, orderUrl: 'one' })
    await clearOrder(database(), uuid)
    assert.equal(await findOrder(deps(), uuid, directory), undefined)
    assert.equal(await set('three'), undefined)
    const next = await ensure()
    assert.ok(next !== undefined && next.keyPem !== keyPem && next.orderUrl === undefined)
  })

  it('keeps a key that was written between the read and the write', async () => {
    const { uuid } = await requested()
    let rival: Awaited<ReturnType<typeof ensureOrderKey>>
    const overtaken = {
      ...database(),
      db: database().db.withPlugin({
        transformQuery: ({ node }) => node,
        // The first query is the read. This plugin lets another call write its key right after that read.
        async transformResult({ result }) {
          rival ??= await ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
          return result
        },
      }),
    }
    const late = await ensureOrderKey(
      { database: overtaken, secretBox: testSecretBox },
      { uuid, directory, makeKeyPem },
    )
    assert.ok(rival)
    assert.deepEqual(late, rival)
  })

  it('begins a new order if the present one is another authority’s, or its key can not be opened', async () => {
    const { uuid } = await requested()
    const first = await ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
    await setOrderUrl(database(), { uuid, directory, orderUrl: 'one' })
    const other = { uuid, directory: 'local', makeKeyPem }
    assert.equal(await findOrder(deps(), uuid, 'local'), undefined)
    const second = await ensureOrderKey(deps(), other)
    assert.ok(second !== undefined && second.keyPem !== first?.keyPem && second.orderUrl === undefined)
    const newBox = { database: database(), secretBox: createSecretBox(new Uint8Array(32).fill(7)) }
    const third = await ensureOrderKey(newBox, other)
    assert.ok(third !== undefined && third.keyPem !== second.keyPem)
    assert.deepEqual(await ensureOrderKey(newBox, other), third)
  })

  it('seals the key of an order for this certificate and this use', async () => {
    const { uuid } = await requested()
    await ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
    const { keySealed } = await database()
      .db.selectFrom('certificateOrders')
      .select('keySealed')
      .where('certificateUuid', '=', uuid)
      .executeTakeFirstOrThrow()
    assert.throws(() => testSecretBox.open(keySealed, certificateKeyContext(uuid)))
    assert.ok(!keySealed.includes('key '))
  })

  it('shows exactly the challenges that are wanted, with their keys sealed', async () => {
    const { uuid } = await requested()
    const [a, b] = [challenge(`a-${uuid}`), challenge(`b-${uuid}`)]
    const tls = { ...challenge(`t-${uuid}`), kind: ChallengeKind.TlsAlpn01, chain: 'pem', key: 'secret' }
    const shown = async () =>
      database()
        .db.selectFrom('acmeChallenges')
        .select(['id', 'feedXid', 'keySealed', 'kind', 'fqdn', 'keyAuthorization', 'chain'])
        .where('certificateUuid', '=', uuid)
        .orderBy('id')
        .execute()
    assert.ok(await putChallenges(deps(), uuid, [a, b]))
    const before = await shown()
    assert.deepEqual(
      before.map(({ id }) => id),
      [a.token, b.token],
    )
    assert.ok(await putChallenges(deps(), uuid, [b, tls]))
    const [kept, added] = await shown()
    assert.deepEqual(kept, before[1])
    assert.partialDeepStrictEqual(added, { id: tls.token, kind: 'tls-alpn-01', chain: 'pem' })
    assert.equal(testSecretBox.open(added!.keySealed!, challengeKeyContext(tls.token)), 'secret')
    await dropChallenges(database(), uuid)
    await dropChallenges(database(), uuid)
    assert.deepEqual(await shown(), [])
    assert.ok(await putChallenges(deps(), uuid, []))
  })

  it('leaves nothing of a certificate that is deleted', async () => {
    const { uuid, remove } = await requested()
    await ensureOrderKey(deps(), { uuid, directory, makeKeyPem })
    await putChallenges(deps(), uuid, [challenge(`d-${uuid}`)])
    await addAttempt(database(), uuid)
    assert.deepEqual(await remove(), { ok: true })
    for (const table of ownTables) {
      assert.equal(await count(table, uuid), 0)
    }
  })

  it('goes on with an attempt that has not ended, also if two calls run at once, and merges the reports', async () => {
    const { uuid } = await requested()
    const numbers = await Promise.all([1, 2, 3].map(() => addAttempt(database(), uuid, { first: true })))
    assert.deepEqual(numbers, [1, 1, 1])
    await noteAttempt(database(), { uuid, number: 1 }, { dns: ['192.0.2.1'], caa: 'none' })
    await endAttempt(database(), { uuid, number: 1 }, { caa: 'other' })
    const [ended] = await lastAttempts(database(), uuid)
    assert.partialDeepStrictEqual(ended, {
      number: 1,
      report: { first: true, dns: ['192.0.2.1'], caa: 'other' },
    })
    assert.ok(ended?.endedAt)
    await endAttempt(database(), { uuid, number: 1 })
    assert.deepEqual((await lastAttempts(database(), uuid))[0]?.endedAt, ended.endedAt)
    assert.equal(await addAttempt(database(), uuid), 2)
    const [open] = await lastAttempts(database(), uuid)
    assert.deepEqual([open?.number, open?.endedAt], [2, null])
  })

  it('keeps the last attempts, and goes on counting', async () => {
    const { uuid } = await requested()
    const attempts = maxKeptAttempts + 3
    for (let number = 1; number <= attempts; number++) {
      assert.equal(await addAttempt(database(), uuid), number)
      await endAttempt(database(), { uuid, number })
    }
    const kept = await lastAttempts(database(), uuid)
    assert.deepEqual(
      kept.map(({ number }) => number),
      Array.from({ length: maxKeptAttempts }, (_, index) => attempts - index),
    )
    assert.equal(await count('certificateAttempts', uuid), maxKeptAttempts)
  })
})

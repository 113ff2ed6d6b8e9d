import { strict as assert } from 'node:assert'
import { clearOrder, dropChallenges, putChallenges } from '../../../src/db/certificate/orders.ts'
import { installCertificate, recordCertificate } from '../../../src/db/certificate/records.ts'
import { deleteCertificate } from '../../../src/db/certificate/delete.ts'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { routeLine } from '../../../src/db/service/feed-routes.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import { uploadCertificate } from '../../../src/db/certificate/upload.ts'
import { ChallengeKind } from '../../../src/domain/service/route-feed.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { serviceRecords } from '../../support/service-records.ts'
import { settledFeed } from '../../support/settled-feed.ts'

const facts = {
  subject: 'CN=x',
  issuer: 'CN=y',
  serialNumber: '0A',
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2100-01-01T00:00:00Z'),
}

describe('the feed of certificates for gateways', () => {
  const { database, newUser, addCertificate } = serviceRecords()
  const deps = () => ({ database: database(), secretBox: testSecretBox })
  let revision: string | undefined

  /** Reads the changes since the last read. */
  const news = async () => {
    const read = await settledFeed(database(), () => readFeed(database(), routesQuery, revision))
    revision = read.revision
    return read.rows.map((row) => routeLine(testSecretBox, row))
  }
  const snapshot = async () => {
    const { rows } = await readFeed(database(), routesQuery, undefined)
    return rows.map((row) => routeLine(testSecretBox, row))
  }
  before(news)

  it('tells an uploaded certificate with its key, and its deletion', async () => {
    const user = await newUser()
    const outcome = await uploadCertificate(deps(), {
      userUuid: user.uuid,
      commonName: 'up.example',
      chain: 'the chain',
      keyPem: 'the key',
      facts,
    })
    assert.ok(outcome.ok)
    const { uuid } = outcome.certificate
    const certificate = { uuid, commonName: 'up.example', state: 'valid', chain: 'the chain', key: 'the key' }
    assert.deepEqual(await news(), [{ kind: 'certificate', certificate }])
    await deleteCertificate(database(), user.uuid, uuid)
    assert.deepEqual(await news(), [{ kind: 'gone', what: 'certificate', id: uuid }])
  })

  it('tells a requested certificate once it is valid, and its renewal as one change', async () => {
    const uuid = await addCertificate(await newUser(), 'c', 'req.example', 'pending')
    const told = (more: object) => {
      return [{ kind: 'certificate', certificate: { uuid, commonName: 'req.example', ...more } }]
    }
    assert.deepEqual(await news(), told({ state: 'pending' }))
    await installCertificate(deps(), uuid, { chain: 'one', keyPem: 'first', facts })
    assert.deepEqual(await news(), told({ state: 'pending' }))
    const state = CertificateState.Valid
    await recordCertificate(database(), { uuid, revision: 1 }, { state, attempt: 0 })
    assert.deepEqual(await news(), told({ state, chain: 'one', key: 'first' }))
    await recordCertificate(database(), { uuid, revision: 2 }, { state, attempt: 1, failure: 'not yet' })
    assert.deepEqual(await news(), [])
    await installCertificate(deps(), uuid, { chain: 'two', keyPem: 'second', facts })
    assert.deepEqual(await news(), told({ state, chain: 'two', key: 'second' }))
  })

  it('tells challenges as long as they are to be shown', async () => {
    const uuid = await addCertificate(await newUser(), 'c', 'shown.example', 'pending')
    await news()
    const plain = {
      token: 'plain',
      kind: ChallengeKind.Http01,
      fqdn: 'shown.example',
      keyAuthorization: 'plain.x',
    }
    const tls = {
      ...plain,
      token: 'tls',
      kind: ChallengeKind.TlsAlpn01,
      chain: 'the chain',
      key: 'the key',
    }
    await putChallenges(deps(), uuid, [plain, tls])
    const lines = [plain, tls].map((challenge) => ({ kind: 'challenge', challenge }))
    const byToken = async (told: typeof news) =>
      (await told())
        .flatMap((line) => (line.kind === 'challenge' ? line : []))
        .toSorted((one, other) => one.challenge.token.localeCompare(other.challenge.token))
    assert.deepEqual(await byToken(news), lines)
    await putChallenges(deps(), uuid, [plain, tls])
    assert.deepEqual(await news(), [])
    assert.deepEqual(await byToken(snapshot), lines)
    await putChallenges(deps(), uuid, [tls])
    assert.deepEqual(await news(), [{ kind: 'gone', what: 'challenge', id: 'plain' }])
    await dropChallenges(database(), uuid)
    assert.deepEqual(await news(), [{ kind: 'gone', what: 'challenge', id: 'tls' }])
    assert.deepEqual(await byToken(snapshot), [])
    await putChallenges(deps(), uuid, [plain])
    assert.deepEqual(await byToken(news), lines.slice(0, 1))
    await clearOrder(database(), uuid)
    assert.deepEqual(await news(), [{ kind: 'gone', what: 'challenge', id: 'plain' }])
  })

  it('tells that challenges are gone with the certificate', async () => {
    const user = await newUser()
    const uuid = await addCertificate(user, 'c', 'deleted.example', 'pending')
    const challenge = { kind: ChallengeKind.Http01, fqdn: 'deleted.example', keyAuthorization: 'x' }
    await putChallenges(deps(), uuid, [{ token: 'deleted', ...challenge }])
    await news()
    await deleteCertificate(database(), user.uuid, uuid)
    const gone = (await news()).map((line) => (line.kind === 'gone' ? line.what : line.kind))
    assert.deepEqual(gone.toSorted(), ['certificate', 'challenge'])
  })
})

import { strict as assert } from 'node:assert'
import { addAttempt, endAttempt, lastAttempts } from '../../src/db/certificate/attempts.ts'
import { recordCertificate } from '../../src/db/certificate/records.ts'
import { User } from '../../src/db/schema/user.ts'
import { CertificateState } from '../../src/domain/service/handler.ts'
import { serviceRecords } from '../support/service-records.ts'
import { readRows } from '../support/rows.ts'

/**
 * PostgreSQL takes no NUL in text. The API refuses a NUL that a user sends. But a report of a host or of an
 * authority may hold a NUL, and its write would fail again at every repeat. So the NUL is replaced.
 */
describe('a NUL in a report of a part of the platform is replaced', () => {
  const { database, newUser, addCertificate } = serviceRecords()

  it('in the values of a query, of a statement of MikroORM, and of a search', async () => {
    const text = 'select $1::text as one, $2::text[] as many'
    const values = ['a\0b', ['\0', 'c\ud800']]
    assert.deepEqual(await readRows(database(), { text, values }), [
      { one: 'a\ufffdb', many: ['\ufffd', 'c\ufffd'] },
    ])
    assert.deepEqual(await database().orm.em.fork().execute('select ? as one', ['a\0b']), [
      { one: 'a\ufffdb' },
    ])
    assert.equal(await database().orm.em.fork().findOne(User, { name: 'a\0b' }), null)
  })

  it('in the failure and the report of an attempt', async () => {
    const uuid = await addCertificate(await newUser(), 'c', 'plain.example', 'pending')
    const failure = 'the authority said \0'
    const record = { state: CertificateState.Pending, attempt: 1, failure }
    assert.equal(await recordCertificate(database(), { uuid, revision: 1 }, record), true)
    const number = await addAttempt(database(), uuid, { said: '\0' })
    assert.ok(number !== undefined)
    await endAttempt(database(), { uuid, number }, { detail: { text: ['\udc00 and \\u0000'] } })
    const [attempt] = await lastAttempts(database(), uuid)
    assert.deepEqual(attempt?.report, { said: '\ufffd', detail: { text: ['\ufffd and \\u0000'] } })
    const [row] = await readRows<{ failure: string }>(database(), {
      text: 'select failure from certificates where uuid = $1',
      values: [uuid],
    })
    assert.equal(row?.failure, 'the authority said \ufffd')
  })
})

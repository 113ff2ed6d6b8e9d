import assert from 'node:assert/strict'
import { failedConnection, refusedByDatabase } from '../../../src/db/unusable-database.ts'

const url = 'postgres://roost:secret@db:5432/roost'
const refused = (code: string): Error => Object.assign(new Error('the reason'), { code })

describe('the error about a database that can not be used', () => {
  for (const [code, todo] of [
    ['28P01', 'correct the user and the password in DATABASE_URL'],
    [
      '28000',
      'correct the user in DATABASE_URL, or let it in by pg_hba.conf; if that asks for TLS, add sslmode=verify-full to DATABASE_URL',
    ],
    ['3D000', 'create that database, or correct the name in DATABASE_URL'],
    ['42501', 'let the user make tables in the schema, or name another user in DATABASE_URL'],
    ['53300', 'raise max_connections of PostgreSQL, or end other connections'],
    ['57P03', 'try again when PostgreSQL has started'],
  ] as const) {
    it(`says what to do about PostgreSQL's refusal ${code}, whether or not there was a connection`, () => {
      const message = `the database at db:5432/roost refuses: the reason: ${todo}`
      assert.equal(refusedByDatabase(url, refused(code))?.message, message)
      assert.equal(failedConnection(url, refused(code)).message, message)
    })
  }

  it('is not made for an error that an operator can not end', () => {
    assert.equal(refusedByDatabase(url, refused('23505')), undefined)
    assert.equal(refusedByDatabase(url, 'no error'), undefined)
  })

  it('has the reasons of all addresses of a name that does not answer', () => {
    const all = new AggregateError([new Error('connect ECONNREFUSED ::1'), new Error('connect ETIMEDOUT')])
    assert.equal(
      failedConnection(url, all).message,
      'the database at db:5432/roost does not answer: connect ECONNREFUSED ::1, connect ETIMEDOUT: ' +
        'start PostgreSQL, or correct host and port in DATABASE_URL',
    )
  })
})

import assert from 'node:assert/strict'
import { assertNone } from './assert-none.ts'
import { importsOf, isSource, textOf, writtenFiles } from './sources.ts'

const product = writtenFiles().filter((file) => isSource(file) && /^(src|workflows|activities)\//.test(file))
const fragments = product.filter((file) => file.startsWith('src/db/sql/'))

/**
 * The most fragments of SQL as text. They are for what the query builder can not say. A new one needs a
 * better reason than all before it.
 */
const mostFragments = 17

/**
 * The files that use PostgreSQL's driver directly, and not through the query builder: the pool, the
 * listener, the lock of migrations, and the roles of the server itself.
 */
const connections = new Set([
  'src/db/database.ts',
  'src/db/postgres-client.ts',
  'src/db/instance/listener.ts',
  'src/db/schema/migrate.ts',
  'src/launch/services/postgres-roles.ts',
])

describe('queries', () => {
  it('have SQL as text only in the named fragments of one folder', () => {
    const tagged = product.filter((file) => /\bsql(<[^`(]*>)?`|\bsql\.\w+\(|CompiledQuery/.test(textOf(file)))
    assertNone(tagged.filter((file) => !fragments.includes(file)))
    const count = fragments.flatMap((file) => textOf(file).match(/^export (function|const) /gm) ?? []).length
    assert.ok(count > 0 && count <= mostFragments, `${count} fragments, at most ${mostFragments}`)
  })

  it('reach PostgreSQL by the query builder alone', () => {
    const direct = product.filter((file) =>
      importsOf(file).some(({ specifier, typeOnly }) => specifier === 'pg' && !typeOnly),
    )
    assertNone(direct.filter((file) => !connections.has(file)))
    assertNone(product.filter((file) => /\bem\.execute\(|\.createQueryBuilder\(/.test(textOf(file))))
  })
})

import { strict as assert } from 'node:assert'
import { openDatabase } from '../../src/db/database.ts'
import { migrate, requireShareable } from '../../src/db/schema/migrate.ts'
import { migrationList, worksFrom } from '../../src/db/schema/migrations/list.ts'
import { harmOf } from '../support/gentle-migration.ts'
import { readRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'

const limitMs = 30_000

describe('migrations', () => {
  let empty: TestDatabase
  beforeEach(async () => {
    empty = await createEmptyDatabase()
  })
  afterEach(() => empty.drop())

  it('make of an empty database exactly what the entities describe', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      assert.deepEqual(
        await migrate(database),
        migrationList.map(({ name }) => name),
      )
      const difference = await database.orm.schema.getUpdateSchemaSQL({ dropTables: false })
      assert.equal(difference.trim(), '')
    } finally {
      await database.close()
    }
  })

  it('run once, however many processes start at the same time', async () => {
    const databases = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ url: empty.url, applicationName: 'migrations' })),
    )
    try {
      const ran = await Promise.all(databases.map((database) => migrate(database)))
      assert.deepEqual(
        ran.flat(),
        migrationList.map(({ name }) => name),
      )
    } finally {
      await Promise.all(databases.map((database) => database.close()))
    }
  })

  it('leave the version before working, for as long as machines of both may run', async () => {
    const names = migrationList.map(({ name }) => name)
    assert.ok(names.includes(worksFrom))
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      const statements = new Map<string, readonly string[]>()
      for (const { name, class: One } of migrationList) {
        const one = new One(database.orm.em.getDriver(), database.orm.config)
        await one.up()
        statements.set(name, (one.getQueries?.() ?? []).map(String))
      }
      assert.match(statements.get('Migration20261128090000_draining')?.join() ?? '', /^alter table nodes add/)
      for (const name of names.slice(names.indexOf(worksFrom) + 1))
        for (const statement of statements.get(name) ?? []) assert.equal(harmOf(statement), undefined, name)
    } finally {
      await database.close()
    }
  })

  it('do not hold up the others for long when they wait for a table that somebody reads', async () => {
    const both = await Promise.all(
      ['migrations', 'readers'].map((applicationName) => openDatabase({ url: empty.url, applicationName })),
    )
    const [migrating, reading] = both
    const reader = reading!.orm.em.fork()
    try {
      const names = migrationList.map(({ name }) => name)
      const changing = names.indexOf('Migration20261129080000_host_upgrades')
      await migrating!.orm.migrator.up({ to: names[changing - 1]! })
      await reader.begin()
      await reader.execute('select * from nodes')
      const migrated = migrate(migrating!)
      let isOver = false
      void migrated.finally(() => (isOver = true)).catch(() => undefined)
      const isHeldUp = async () => {
        const text = `select from pg_locks where relation = 'nodes'::regclass and not granted`
        return (await readRows(reading!, { text })).length > 0
      }
      await until('the change waits', isHeldUp, { limitMs })
      await readRows(reading!, { text: 'select * from nodes' })
      assert.equal(isOver, false, 'the change waits still')
      await reader.rollback()
      assert.deepEqual(await migrated, names.slice(changing))
    } finally {
      if (reader.isInTransaction()) await reader.rollback()
      await Promise.all(both.map((database) => database.close()))
    }
  })

  it('of a later version are no reason against a database, if that version says so', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      await migrate(database)
      const later = `insert into mikro_orm_migrations (name) values ('Migration20990101000000_more')`
      await readRows(database, { text: later })
      assert.deepEqual(await migrate(database), [])
      const mark = 'versions work with this database that know Migration20990101000000_more'
      await readRows(database, { text: `comment on table mikro_orm_migrations is '${mark}'` })
      await assert.rejects(migrate(database), /was made by a newer version/)
    } finally {
      await database.close()
    }
  })

  it('let a version be taken over only if it works with what they make of the database', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      await migrate(database)
      await requireShareable(empty.url)
      await readRows(database, { text: `delete from mikro_orm_migrations where name = '${worksFrom}'` })
      await assert.rejects(requireShareable(empty.url), /too old to be taken over from while it runs/)
    } finally {
      await database.close()
    }
  })

  it('leave their mark also if they were cut off before', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    const mark = { text: `select obj_description('mikro_orm_migrations'::regclass, 'pg_class') as mark` }
    try {
      await migrate(database)
      const before = await readRows<{ mark: string | null }>(database, mark)
      await readRows(database, { text: 'comment on table mikro_orm_migrations is null' })
      await migrate(database)
      assert.deepEqual(await readRows(database, mark), before)
      assert.match(before[0]?.mark ?? '', new RegExp(worksFrom))
    } finally {
      await database.close()
    }
  })

  for (const [made, prepare, message] of [
    [
      'a newer version',
      `create table mikro_orm_migrations as select 'Migration20990101000000_more' as name`,
      /was made by a newer version of Roost \(this one does not know Migration20990101000000_more\): start that/,
    ],
    [
      'a version from before the first release',
      `create table mikro_orm_migrations as select 'Migration20261121095209_initial' as name`,
      /from before the first release, and there is no way from it to this one: start with an empty database/,
    ],
    ['somebody else', 'create table shop (id int)', /has tables that are not Roost's \(shop\): give Roost a/],
  ] as const) {
    it(`do not touch a database that ${made} made`, async () => {
      const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
      try {
        await readRows(database, { text: prepare })
        await assert.rejects(migrate(database), { name: 'UnknownDatabase', message })
        const tables = await readRows<{ name: string }>(database, {
          text: 'select tablename as name from pg_tables where schemaname = current_schema()',
        })
        assert.equal(tables.length, 1)
      } finally {
        await database.close()
      }
    })
  }
})

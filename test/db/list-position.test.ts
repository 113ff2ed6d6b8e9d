import { strict as assert } from 'node:assert'
import { listPosition } from '../../src/db/list-position.ts'
import { serviceRecords } from '../support/service-records.ts'
import { readRows } from '../support/rows.ts'

/** How many deleted objects of a user keep their position in a list. The migration has the same number. */
const keptPositions = 2_000

describe('the position of a deleted object', () => {
  const { database, newUser } = serviceRecords()

  const insert = (user: { readonly uuid: string }, count: number) =>
    readRows<{ uuid: string; position: number }>(database(), {
      text: `insert into services (uuid, user_uuid, name, persistent, soft_limit, hard_limit, ports)
             select gen_random_uuid(), $1, 'name-' || gen_random_uuid(), true, 1, 1, '[]'
             from generate_series(1, $2) returning uuid, position`,
      values: [user.uuid, count],
    })
  const remove = (uuids: readonly string[]) =>
    readRows(database(), {
      text: 'delete from services where uuid = any($1::uuid[])',
      values: [uuids],
    })
  const position = (
    user: { readonly uuid: string },
    uuid: string,
    list: 'services' | 'volumes' = 'services',
  ) => listPosition(database(), { list, userUuid: user.uuid, uuid })
  const kept = async (user: { readonly uuid: string }) => {
    const [row] = await readRows<{ count: number }>(database(), {
      text: 'select count(*)::int as count from deleted_positions where user_uuid = $1',
      values: [user.uuid],
    })
    return row!.count
  }

  it('stays the same, for its owner and its list alone', async () => {
    const [owner, other] = [await newUser(), await newUser()]
    const [service] = await insert(owner, 1)
    assert.equal(await position(owner, service!.uuid), service!.position)
    await remove([service!.uuid])
    assert.equal(await position(owner, service!.uuid), service!.position)
    assert.equal(await position(owner, service!.uuid, 'volumes'), undefined)
    assert.equal(await position(other, service!.uuid), undefined)
    assert.equal(await position(owner, 'no-uuid'), undefined)
  })

  it('is known for the last 2000 objects that the user deleted, and for no more', async () => {
    const [owner, other] = [await newUser(), await newUser()]
    const [foreign] = await insert(other, 1)
    await remove([foreign!.uuid])
    const [first, second] = await insert(owner, 2)
    await remove([first!.uuid])
    await remove([second!.uuid])
    const more = await insert(owner, keptPositions - 1)
    await remove(more.map(({ uuid }) => uuid))
    assert.equal(await kept(owner), keptPositions)
    assert.equal(await position(owner, first!.uuid), undefined)
    assert.equal(await position(owner, second!.uuid), second!.position)
    assert.equal(await position(other, foreign!.uuid), foreign!.position)
  })

  it('is kept and forgotten without a wait for another delete that is under way', async () => {
    const owner = await newUser()
    const all = await insert(owner, keptPositions + 2)
    const [one, other, ...rest] = all.map(({ uuid }) => uuid)
    await remove(rest)
    const [first, second] = [database().orm.em.fork(), database().orm.em.fork()]
    await first.begin()
    await second.begin()
    try {
      await second.execute("set local lock_timeout = '5s'")
      await first.execute('delete from services where uuid = ?', [one])
      // Each delete forgets the oldest entry. Both find the same one here, and neither may wait for the
      // other.
      await second.execute('delete from services where uuid = ?', [other])
      await second.commit()
      await first.commit()
    } finally {
      for (const em of [first, second]) if (em.isInTransaction()) await em.rollback()
    }
    for (const row of all.slice(0, 2)) assert.equal(await position(owner, row.uuid), row.position)
    const [last] = await insert(owner, 1)
    await remove([last!.uuid])
    assert.equal(await kept(owner), keptPositions)
  })
})

import type { Database } from '../database.ts'

/**
 * `<repository>@sha256:<hex>` of what the user's instances run: the registry can not list what lost its tag.
 */
export async function imagesOfUser(database: Database, userName: string): Promise<readonly string[]> {
  const rows = await database.rows<{ image: string }>({
    name: 'images-of-user',
    text: `select distinct image from instances where deleted_at is null
             and user_uuid = (select uuid from users where name = $1) order by image`,
    values: [userName],
  })
  return rows.map((row) => row.image)
}

/**
 * The same of all users. An instance that was deleted and is not gone yet needs its image no more: nothing
 * starts it again.
 */
export async function imagesInUse(database: Database): Promise<readonly string[]> {
  const rows = await database.rows<{ image: string }>({
    name: 'images-in-use',
    text: `select distinct image from instances where deleted_at is null`,
  })
  return rows.map((row) => row.image)
}

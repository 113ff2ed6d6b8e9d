import type { Database } from '../database.ts'

/**
 * `<repository>@sha256:<hex>` of what the user's instances run: the registry can not list what lost its tag.
 */
export async function imagesOfUser({ db }: Database, userName: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('instances')
    .innerJoin('users', 'users.uuid', 'instances.userUuid')
    .select('image')
    .distinct()
    .where('deletedAt', 'is', null)
    .where('users.name', '=', userName)
    .orderBy('image')
    .execute()
  return rows.map(({ image }) => image)
}

/**
 * The same of all users. An instance that was deleted and is not gone yet needs its image no more: nothing
 * starts it again.
 */
export async function imagesInUse({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('image')
    .distinct()
    .where('deletedAt', 'is', null)
    .execute()
  return rows.map(({ image }) => image)
}

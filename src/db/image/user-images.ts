import type { Database } from '../database.ts'

/**
 * `<repository>@sha256:<hex>` of the images that the user's instances run. The registry can not list those
 * that lost their tag.
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
 * The same for all users. A deleted instance does not need its image any more, even if its host has not
 * removed it yet: nothing starts it again.
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

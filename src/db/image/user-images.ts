import type { Database } from '../database.ts'

/**
 * The images that the user's instances run, each as `<repository>@sha256:<hex>`. The registry lists images
 * by their tags, so it can not list those of them that have lost their tag.
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
 * The images that the instances of all users run. A deleted instance does not need its image any more, even
 * if its host has not removed the instance yet, because nothing starts it again.
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

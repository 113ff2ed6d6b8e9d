import { expressionBuilder } from 'kysely'
import type { QuotaAmounts, QuotaReport } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { inOrderOf, splitIdentifiers } from '../identifiers.ts'
import type { Identifier } from '../identifiers.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { heldByInstances, heldByVolumes, publishedBy, pushedBy, unpackedFor } from './quotas.ts'
import { living } from './tokens.ts'
import { hardQuotasOf, quotaLimitsOf } from './users.ts'

/** An account as administrators see it. */
export interface UserOverview extends Pick<Row<'users'>, 'uuid' | 'name' | 'admin' | 'createdAt'> {
  readonly quotas: QuotaReport
  /** How many of its tokens are accepted. */
  readonly tokens: number
  /** When one of its tokens was last used. Null if none ever was. */
  readonly lastUsedAt: Date | null
}

/** A page of all users, in the order of their creation. */
export interface UserPage {
  readonly count?: number
  readonly from?: number
  /** Only users that were created after this one. */
  readonly after?: string
}

/** Undefined if no user has the UUID after which the page begins. */
export async function overlookUsers(
  { db }: Database,
  page: UserPage = {},
): Promise<readonly UserOverview[] | undefined> {
  const last =
    page.after === undefined
      ? undefined
      : await db
          .selectFrom('users')
          .select(['uuid', 'createdAt'])
          .where('uuid', '=', page.after)
          .executeTakeFirst()
  if (page.after !== undefined && last === undefined) return undefined
  const users = db
    .selectFrom('users')
    .select(columnsOf('users'))
    .$if(last !== undefined, (query) =>
      query.where(({ eb, or, and }) =>
        or([
          eb('createdAt', '>', last!.createdAt),
          and([eb('createdAt', '=', last!.createdAt), eb('uuid', '>', last!.uuid)]),
        ]),
      ),
    )
    .orderBy('createdAt')
    .orderBy('uuid')
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
  return withHoldings(db, users)
}

/** The users in the order of the identifiers; undefined for each that does not exist. */
export async function findUsers(
  { db }: Database,
  identifiers: readonly Identifier[],
): Promise<readonly (UserOverview | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const users = db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where(({ eb, or }) => or([eb('uuid', '=', anyOf(uuids)), eb('name', '=', anyOf(names))]))
  return inOrderOf(identifiers, await withHoldings(db, users))
}

function selectUsers(db: Db) {
  return db.selectFrom('users').select(columnsOf('users'))
}

/**
 * Adds what each of these users holds, in one statement. The users are chosen in a query of their own, so
 * that nothing is counted for those that are not asked for.
 */
async function withHoldings(db: Db, users: ReturnType<typeof selectUsers>): Promise<readonly UserOverview[]> {
  const user = expressionBuilder<Tables & { readonly user: Row<'users'> }, 'user'>().ref('user.uuid')
  const tokens = db
    .selectFrom('tokens')
    .where('userUuid', '=', user)
    .select((eb) => [
      eb.fn.countAll<number>().filterWhere(living(eb)).as('tokens'),
      eb.fn.max('lastUsedAt').as('lastUsedAt'),
    ])
  const rows = await db
    .selectFrom(users.as('user'))
    .innerJoinLateral(heldByInstances(db, user, 'is').as('held'), (join) => join.onTrue())
    .innerJoinLateral(publishedBy(db, user).as('published'), (join) => join.onTrue())
    .innerJoinLateral(heldByVolumes(db, user, 'is').as('kept'), (join) => join.onTrue())
    .innerJoinLateral(pushedBy(db, user).as('pushed'), (join) => join.onTrue())
    .innerJoinLateral(unpackedFor(db, user).as('unpacked'), (join) => join.onTrue())
    .innerJoinLateral(tokens.as('own'), (join) => join.onTrue())
    .selectAll(['user', 'held', 'published', 'kept', 'pushed', 'unpacked', 'own'])
    .orderBy('user.createdAt')
    .orderBy('user.uuid')
    .execute()
  return rows.map((row) => {
    const { uuid, name, admin, createdAt, lastUsedAt } = row
    const quotas = {
      userUuid: uuid,
      used: amountsOf(row),
      hard: hardQuotasOf(row),
      limits: quotaLimitsOf(row),
    }
    return { uuid, name, admin, createdAt, quotas, tokens: row.tokens, lastUsedAt }
  })
}

function amountsOf(row: QuotaAmounts): QuotaAmounts {
  const { instances, liveInstances, liveVcpus, liveMemoryMb, serviceGroups, services } = row
  const { volumes, totalVolumeMb, registryMb, snapshotMb, imageMb } = row
  return {
    instances,
    liveInstances,
    liveVcpus,
    liveMemoryMb,
    serviceGroups,
    services,
    volumes,
    totalVolumeMb,
    registryMb,
    snapshotMb,
    imageMb,
  }
}

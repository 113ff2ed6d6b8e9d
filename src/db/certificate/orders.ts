import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { RouteChallenge } from '../../domain/service/route-feed.ts'
import type { CertificateDeps } from './records.ts'
import type { Database } from '../database.ts'
import { challengeKeyContext } from '../service/feed-routes.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'
import type { Db, Row } from '../schema/tables.ts'
import { allOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'

/** The part of an order that an attempt needs to go on after a crash. */
export interface KeptOrder {
  /** The certificate's new key, PEM. */
  readonly keyPem: string
  /** Absent until the authority has answered the order. */
  readonly orderUrl?: string
}

const storedColumns = ['directory', 'keySealed', 'orderUrl'] as const

type StoredOrder = Readonly<Pick<Row<'certificateOrders'>, (typeof storedColumns)[number]>>

/**
 * The order under way with this authority, and the new key of the certificate. If there is none, an order
 * with a new key is begun; two calls at once both get the key of the first. Undefined if the certificate is
 * gone.
 */
export async function ensureOrderKey(
  { database, secretBox }: CertificateDeps,
  wanted: { readonly uuid: string; readonly directory: string; readonly makeKeyPem: () => string },
): Promise<KeptOrder | undefined> {
  const { uuid, directory } = wanted
  const stored = await storedOrder(database.db, uuid)
  const kept = stored && openedOrder(secretBox, uuid, { stored, directory })
  if (kept !== undefined) return kept
  // If an order is stored here, it is of another authority, or its key can not be opened. It is of no use,
  // so it is replaced, unless another call has replaced it since it was read.
  const keySealed = secretBox.seal(wanted.makeKeyPem(), orderKeyContext(uuid))
  await database.db
    .insertInto('certificateOrders')
    .columns(['certificateUuid', 'directory', 'keySealed'])
    .expression((eb) =>
      eb
        .selectFrom('certificates')
        .select((eb) => ['uuid', eb.val(directory).as('directory'), eb.val(keySealed).as('keySealed')])
        .where('uuid', '=', uuid)
        .where('origin', '=', CertificateOrigin.Requested)
        .forKeyShare(),
    )
    .onConflict((oc) =>
      stored === undefined
        ? oc.column('certificateUuid').doNothing()
        : oc
            .column('certificateUuid')
            .doUpdateSet((eb) => ({
              directory: eb.ref('excluded.directory'),
              keySealed: eb.ref('excluded.keySealed'),
              orderUrl: null,
              createdAt: now,
            }))
            .where('certificateOrders.keySealed', '=', stored.keySealed),
    )
    .execute()
  return findOrder({ database, secretBox }, uuid, directory)
}

/** The order under way with this authority; undefined if there is none. */
export async function findOrder(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  directory: string,
): Promise<KeptOrder | undefined> {
  const stored = await storedOrder(database.db, uuid)
  return stored && openedOrder(secretBox, uuid, { stored, directory })
}

function openedOrder(
  box: SecretBox,
  uuid: string,
  { stored, directory }: { readonly stored: StoredOrder; readonly directory: string },
): KeptOrder | undefined {
  const { keySealed, orderUrl } = stored
  const keyPem = stored.directory === directory ? openedKey(box, keySealed, uuid) : undefined
  return keyPem === undefined ? undefined : { keyPem, ...(orderUrl !== null && { orderUrl }) }
}

async function storedOrder(db: Db, uuid: string): Promise<StoredOrder | undefined> {
  return db
    .selectFrom('certificateOrders')
    .select(storedColumns)
    .where('certificateUuid', '=', uuid)
    .executeTakeFirst()
}

/**
 * Notes the order's URL before it is used. Returns the URL that is kept, which is the first that was noted;
 * undefined if the order is not under way any more.
 */
export async function setOrderUrl(
  { db }: Database,
  order: { readonly uuid: string; readonly directory: string; readonly orderUrl: string },
): Promise<string | undefined> {
  const kept = await db
    .updateTable('certificateOrders')
    .set((eb) => ({ orderUrl: eb.fn.coalesce('orderUrl', eb.val(order.orderUrl)) }))
    .where('certificateUuid', '=', order.uuid)
    .where('directory', '=', order.directory)
    .returning((eb) => eb.ref('orderUrl').$notNull().as('orderUrl'))
    .executeTakeFirst()
  return kept?.orderUrl
}

/** Forgets an order that can not succeed any more, with its key and challenges. Idempotent. */
export async function clearOrder({ db }: Database, uuid: string): Promise<void> {
  await db
    .with(
      (cte) => cte('owner').materialized(),
      (db) => db.selectFrom('certificates').select('uuid').where('uuid', '=', uuid).forKeyShare(),
    )
    .with('shown', (db) =>
      db.deleteFrom('acmeChallenges').using('owner').whereRef('certificateUuid', '=', 'owner.uuid'),
    )
    .deleteFrom('certificateOrders')
    .using('owner')
    .whereRef('certificateUuid', '=', 'owner.uuid')
    .execute()
}

/**
 * Makes gateways show exactly these challenges for the certificate. Idempotent: challenges that are shown
 * already stay. False if the certificate is gone.
 */
export async function putChallenges(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  challenges: readonly RouteChallenge[],
): Promise<boolean> {
  const rows = challenges.map(({ token, kind, fqdn, keyAuthorization, chain = null, key }) => {
    const keySealed = key === undefined ? null : secretBox.seal(key, challengeKeyContext(token))
    return { id: token, certificateUuid: uuid, kind, fqdn, keyAuthorization, chain, keySealed }
  })
  return database.db.transaction().execute(async (db) => {
    const owner = await db
      .selectFrom('certificates')
      .select('uuid')
      .where('uuid', '=', uuid)
      .where('origin', '=', CertificateOrigin.Requested)
      .forKeyShare()
      .executeTakeFirst()
    if (owner === undefined) return false
    await db
      .deleteFrom('acmeChallenges')
      .where('certificateUuid', '=', uuid)
      .where('id', '<>', allOf(rows.map(({ id }) => id)))
      .execute()
    if (rows.length > 0) {
      const insert = db.insertInto('acmeChallenges').values(rows)
      await insert.onConflict((oc) => oc.column('id').doNothing()).execute()
    }
    return true
  })
}

/** Removes the challenges that gateways show for the certificate. Idempotent. */
export async function dropChallenges({ db }: Database, uuid: string): Promise<void> {
  await db.deleteFrom('acmeChallenges').where('certificateUuid', '=', uuid).execute()
}

/** The secret box's context that binds the key of an order to its certificate. */
function orderKeyContext(uuid: string): string {
  return `certificate-order-key/${uuid}`
}

function openedKey(box: SecretBox, sealed: string, uuid: string): string | undefined {
  try {
    return box.open(sealed, orderKeyContext(uuid))
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined
    throw error
  }
}

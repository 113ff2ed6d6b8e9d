import { orderCountsForMs, putOffOrder } from '../../domain/certificate/order-pace.ts'
import type {
  MadeOrder,
  OrderPace,
  OrderPutOff,
  OrdersAhead,
  WantedOrder,
} from '../../domain/certificate/order-pace.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { Database } from '../database.ts'
import { takeLock } from '../locks.ts'
import type { Db } from '../schema/tables.ts'

export type OrderPermit = { readonly number: number } | OrderPutOff | 'gone'

interface Wanted {
  readonly uuid: string
  readonly directory: string
  readonly pace: OrderPace
  readonly nowMs: number
}

/**
 * The lock under which permits are taken one after the other, so that any number of workers share one count.
 */
const paceLock = 7_070_003

/**
 * Counts one more order for a certificate with an authority, or says until when the order has to wait. Call
 * this right before the order is made. The order counts even if it fails later; if none was made, call
 * `giveBackOrder`.
 */
export async function takeOrder(database: Database, wanted: Wanted): Promise<OrderPermit> {
  return database.db.transaction().execute(async (db) => {
    await takeLock(db, paceLock)
    const { uuid, directory, pace, nowMs } = wanted
    const found = await wantedOrder(db, uuid)
    if (found === undefined) return 'gone'
    const { wasIssued, position, ...order } = found
    const forgottenAt = new Date(nowMs - orderCountsForMs(pace))
    await db.deleteFrom('authorityOrders').where('orderedAt', '<=', forgottenAt).execute()
    const made = await madeOrders(db, directory)
    const ahead = await ordersAhead(db, { userUuid: order.userUuid, wasIssued, position, nowMs })
    const putOff = putOffOrder(pace, order, { made, ahead, users: await usersCount(db), nowMs })
    if (putOff !== undefined) return putOff
    return db
      .insertInto('authorityOrders')
      .values({ directory, ...order, orderedAt: new Date(nowMs) })
      .returning('number')
      .executeTakeFirstOrThrow()
  })
}

/** Takes an order off the count because the authority made none. */
export async function giveBackOrder(
  { db }: Database,
  { number }: { readonly number: number },
): Promise<void> {
  await db.deleteFrom('authorityOrders').where('number', '=', number).execute()
}

interface FoundOrder extends WantedOrder {
  readonly wasIssued: boolean
  readonly position: number
}

/**
 * The order that the certificate needs. The renewal of a certificate that no domain uses counts like a new
 * order, because nothing depends on it.
 */
async function wantedOrder(db: Db, uuid: string): Promise<FoundOrder | undefined> {
  return db
    .selectFrom('certificates')
    .select(['userUuid', 'commonName as fqdn', 'position'])
    .select((eb) => {
      const wasIssued = eb('chain', 'is not', null)
      const using = eb
        .selectFrom('domains')
        .select('domains.fqdn')
        .whereRef('domains.certificateUuid', '=', 'certificates.uuid')
      return [
        wasIssued.$castTo<boolean>().as('wasIssued'),
        eb
          .and([wasIssued, eb.exists(using)])
          .$castTo<boolean>()
          .as('isRenewal'),
      ]
    })
    .where('uuid', '=', uuid)
    .where('origin', '=', CertificateOrigin.Requested)
    .executeTakeFirst()
}

async function madeOrders(db: Db, directory: string): Promise<readonly MadeOrder[]> {
  const rows = await db
    .selectFrom('authorityOrders')
    .select(['userUuid', 'fqdn', 'isRenewal', 'orderedAt'])
    .where('directory', '=', directory)
    .orderBy('orderedAt')
    .orderBy('number')
    .execute()
  return rows.map(({ orderedAt, ...order }) => ({ ...order, atMs: orderedAt.getTime() }))
}

async function usersCount(db: Db): Promise<number> {
  const { users } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('users'))
    .executeTakeFirstOrThrow()
  return users
}

/**
 * Counts the certificates whose orders come before this one. They were created earlier, and their open
 * attempt waits for a later time. If this certificate was issued before, only others that were issued before
 * count; otherwise only others that were not. A certificate whose last attempt failed has no open attempt,
 * so it does not count.
 */
async function ordersAhead(
  db: Db,
  of: Pick<FoundOrder, 'userUuid' | 'wasIssued' | 'position'> & { readonly nowMs: number },
): Promise<OrdersAhead> {
  return db
    .selectFrom('certificates')
    .select((eb) => [
      eb.fn.countAll<number>().as('ofAll'),
      eb.fn.countAll<number>().filterWhere('userUuid', '=', of.userUuid).as('ofUser'),
    ])
    .where('origin', '=', CertificateOrigin.Requested)
    .where('chain', of.wasIssued ? 'is not' : 'is', null)
    .where('nextAt', '>', new Date(of.nowMs))
    .where('position', '<', of.position)
    .where((eb) => {
      const open = eb
        .selectFrom('certificateAttempts')
        .select('certificateAttempts.number')
        .whereRef('certificateAttempts.certificateUuid', '=', 'certificates.uuid')
        .where('certificateAttempts.endedAt', 'is', null)
      return eb.exists(open)
    })
    .executeTakeFirstOrThrow()
}

import type { EntityManager } from '@mikro-orm/postgresql'
import { orderCountsForMs, putOffOrder } from '../../domain/certificate/order-pace.ts'
import type {
  MadeOrder,
  OrderPace,
  OrderPutOff,
  OrdersAhead,
  WantedOrder,
} from '../../domain/certificate/order-pace.ts'
import type { Database } from '../database.ts'

export type OrderPermit = { readonly number: number } | OrderPutOff | 'gone'

interface Wanted {
  readonly uuid: string
  readonly directory: string
  readonly pace: OrderPace
  readonly nowMs: number
}

/** Whoever takes a permit waits for those who are taking one: any number of workers share the same count. */
const paceLock = 7_070_003

/**
 * Counts one more order for a certificate with an authority, or says until when it has to wait. To be asked
 * right before the order is made; what becomes of the order does not matter, unless none was made
 * (`giveBackOrder`).
 */
export async function takeOrder(database: Database, wanted: Wanted): Promise<OrderPermit> {
  return database.em().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(?)', [paceLock])
    const { uuid, directory, pace, nowMs } = wanted
    const found = await wantedOrder(em, uuid)
    if (found === undefined) return 'gone'
    const { wasIssued, position, ...order } = found
    const forgottenAt = new Date(nowMs - orderCountsForMs(pace))
    await em.execute('delete from authority_orders where ordered_at <= ?', [forgottenAt], 'run')
    const made = await madeOrders(em, directory)
    const ahead = await ordersAhead(em, { userUuid: order.userUuid, wasIssued, position, nowMs })
    const putOff = putOffOrder(pace, order, { made, ahead, users: await usersCount(em), nowMs })
    if (putOff !== undefined) return putOff
    const [counted] = await em.execute<{ number: number | string }[]>(
      `insert into authority_orders (directory, user_uuid, fqdn, is_renewal, ordered_at)
       values (?, ?, ?, ?, ?) returning number`,
      [directory, order.userUuid, order.fqdn, order.isRenewal, new Date(nowMs)],
    )
    return { number: Number(counted!.number) }
  })
}

/** The authority made no order. */
export async function giveBackOrder(
  database: Database,
  { number }: { readonly number: number },
): Promise<void> {
  await database.rows({
    name: 'give-back-order',
    text: 'delete from authority_orders where number = $1',
    values: [number],
  })
}

interface FoundOrder extends WantedOrder {
  readonly wasIssued: boolean
  readonly position: string
}

/** One that no domain uses is renewed like a new one is made: nobody misses it. */
async function wantedOrder(em: EntityManager, uuid: string): Promise<FoundOrder | undefined> {
  const [found] = await em.execute<FoundOrder[]>(
    `select user_uuid as "userUuid", common_name as fqdn, position, chain is not null as "wasIssued",
       chain is not null and exists (select 1 from domains where certificate_uuid = certificates.uuid) as "isRenewal"
     from certificates where uuid = ? and origin = 'requested'`,
    [uuid],
  )
  return found
}

async function madeOrders(em: EntityManager, directory: string): Promise<readonly MadeOrder[]> {
  const rows = await em.execute<(WantedOrder & { atMs: number | string })[]>(
    `select user_uuid as "userUuid", fqdn, is_renewal as "isRenewal", (extract(epoch from ordered_at) * 1000)::bigint as "atMs"
     from authority_orders where directory = ? order by ordered_at, number`,
    [directory],
  )
  return rows.map((row) => ({ ...row, atMs: Number(row.atMs) }))
}

async function usersCount(em: EntityManager): Promise<number> {
  const [counted] = await em.execute<{ users: number }[]>('select count(*)::int as users from users')
  return counted?.users ?? 0
}

/**
 * Their attempts go on, at a time that is still to come. What failed waits for its next attempt, and has no
 * place here.
 */
async function ordersAhead(
  em: EntityManager,
  of: Pick<FoundOrder, 'userUuid' | 'wasIssued' | 'position'> & { readonly nowMs: number },
): Promise<OrdersAhead> {
  const [counts] = await em.execute<OrdersAhead[]>(
    `select count(*)::int as "ofAll", (count(*) filter (where user_uuid = ?))::int as "ofUser" from certificates
     where origin = 'requested' and (chain is not null) = ? and next_at > ? and position < ? and exists
       (select 1 from certificate_attempts where certificate_uuid = certificates.uuid and ended_at is null)`,
    [of.userUuid, of.wasIssued, new Date(of.nowMs), of.position],
  )
  return counts ?? { ofUser: 0, ofAll: 0 }
}

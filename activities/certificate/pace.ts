import { IssueError } from '../../src/acme/issuer.ts'
import type { OpenOrder } from '../../src/acme/issuer.ts'
import { giveBackOrder, takeOrder } from '../../src/db/certificate/authority-orders.ts'
import type { Database } from '../../src/db/database.ts'
import type { OrderPace } from '../../src/domain/certificate/order-pace.ts'

export interface PacedOrderDeps {
  readonly database: Database
  /** The authority that gets the orders: the URL of its directory, or `local`. */
  readonly directory: string
  /** Absent if the authority has no limits, like the installation's own authority. */
  readonly pace?: OrderPace
  readonly nowMs: () => number
}

/**
 * Makes an order if the authority's limits allow the certificate's user one more. Otherwise fails as if the
 * authority had put the order off. Returns undefined if the certificate is gone.
 */
export async function orderInTurn(
  { database, directory, pace, nowMs }: PacedOrderDeps,
  uuid: string,
  open: () => Promise<OpenOrder>,
): Promise<OpenOrder | undefined> {
  if (pace === undefined) return open()
  const permit = await takeOrder(database, { uuid, directory, pace, nowMs: nowMs() })
  if (permit === 'gone') return undefined
  if ('reason' in permit) {
    const { reason, retryAtMs } = permit
    throw new IssueError('later', reason, { retryAtMs, isPaced: true })
  }
  try {
    return await open()
  } catch (error) {
    // An authority that is away or refuses has not counted the order. After any other failure nobody knows,
    // so the order stays counted.
    if (error instanceof IssueError) await giveBackOrder(database, permit)
    throw error
  }
}

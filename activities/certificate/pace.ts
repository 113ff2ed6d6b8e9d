import { IssueError } from '../../src/acme/issuer.ts'
import type { OpenOrder } from '../../src/acme/issuer.ts'
import { giveBackOrder, takeOrder } from '../../src/db/certificate/authority-orders.ts'
import type { Database } from '../../src/db/database.ts'
import type { OrderPace } from '../../src/domain/certificate/order-pace.ts'

export interface PacedOrderDeps {
  readonly database: Database
  /** What orders are kept under: the directory's URL, or `local`. */
  readonly directory: string
  /** Absent where the authority has no limits, as the one of the installation's own. */
  readonly pace?: OrderPace
  readonly nowMs: () => number
}

/**
 * Makes an order as soon as one more is left for its user; until then it fails as if the authority had put it
 * off. Undefined where the certificate is gone.
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
    // An authority that is away, or refuses, has counted nothing. Of a break-off nobody knows.
    if (error instanceof IssueError) await giveBackOrder(database, permit)
    throw error
  }
}

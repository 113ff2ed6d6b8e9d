/**
 * How many orders for certificates the platform makes with an authority. An authority bounds them per
 * account, and all users share the platform's one account. So that one user with many domains does not use up
 * all orders, each user has a share. Renewals of certificates in use have a share that new certificates can
 * not take. All functions are pure.
 */
export interface OrderPace {
  /** The largest number of orders that the authority accepts from its account in `windowMs`. */
  readonly orders: number
  readonly windowMs: number
  /**
   * The largest number of orders for one name in an hour. Authorities stop checking a name that fails again
   * and again.
   */
  readonly nameOrders: number
}

/**
 * The limits of Let's Encrypt: 300 orders of an account in 3 hours, and 5 failed proofs of a name in an hour.
 */
export const defaultOrderPace: OrderPace = { orders: 300, windowMs: 10_800_000, nameOrders: 5 }

/** New certificates leave a quarter of all orders (1 / `renewalShare`) to renewals. */
const renewalShare = 4
/**
 * The largest number of equal parts into which all orders are divided among users. With this many users or
 * more, each user gets a quarter of the orders for new certificates, and another quarter for renewals. With
 * fewer users, all orders are divided by the number of users.
 */
const mostShares = 4
const hourMs = 3_600_000

export interface MadeOrder {
  readonly userUuid: string
  readonly fqdn: string
  readonly isRenewal: boolean
  readonly atMs: number
}

export type WantedOrder = Omit<MadeOrder, 'atMs'>

/** The orders of the same kind that have waited for longer than the wanted one, and so come first. */
export interface OrdersAhead {
  readonly ofUser: number
  readonly ofAll: number
}

export interface OrderPutOff {
  /** The reason, for the owner. */
  readonly reason: string
  readonly retryAtMs: number
}

/** How long an order counts after it was made. */
export function orderCountsForMs({ windowMs }: OrderPace): number {
  return Math.max(windowMs, hourMs)
}

export interface KnownOrders {
  /** Orders that were made, in the order of time. */
  readonly made: readonly MadeOrder[]
  readonly ahead: OrdersAhead
  /** The number of users of the installation. More than `mostShares` make no difference. */
  readonly users: number
  readonly nowMs: number
}

/** Returns why and until when the order has to wait, or undefined if it may be made now. */
export function putOffOrder(
  pace: OrderPace,
  wanted: WantedOrder,
  known: KnownOrders,
): OrderPutOff | undefined {
  const { orders, windowMs, nameOrders } = pace
  const { made, ahead, users, nowMs } = known
  const share = Math.max(1, Math.floor(orders / Math.min(Math.max(users, 1), mostShares)))
  const alike = made.filter(({ isRenewal }) => isRenewal === wanted.isRenewal)
  const own = alike.filter(({ userUuid }) => userUuid === wanted.userUuid)
  const ofName = made.filter(({ fqdn }) => fqdn === wanted.fqdn)
  const hours = `${Math.round(windowMs / hourMs)} h`
  const left = orders - Math.floor(orders / renewalShare)
  const ofPlatform = `as many certificates were ordered within ${hours} as the authority takes from this platform`
  const bounds: readonly (Bound & { readonly reason: string })[] = [
    {
      made: ofName,
      bound: nameOrders,
      windowMs: hourMs,
      ahead: 0,
      reason: `${orderedCount(nameOrders)} for ${wanted.fqdn} within 1 h, and more only make an authority stop looking`,
    },
    {
      made: own,
      bound: share,
      windowMs,
      ahead: ahead.ofUser,
      reason: `${orderedCount(share)} for this account within ${hours}, which is the share of one account`,
    },
    {
      made: alike,
      bound: wanted.isRenewal ? orders : left,
      windowMs,
      ahead: ahead.ofAll,
      reason: ofPlatform,
    },
    { made, bound: orders, windowMs, ahead: ahead.ofAll, reason: ofPlatform },
  ]
  const reached = bounds.flatMap(({ reason, ...bound }) => {
    const retryAtMs = freeAtMs(bound, nowMs)
    return retryAtMs === undefined ? [] : [{ reason: `${reason}: this one is ordered later`, retryAtMs }]
  })
  return reached.toSorted((one, other) => other.retryAtMs - one.retryAtMs)[0]
}

function orderedCount(count: number): string {
  return count === 1 ? '1 certificate was ordered' : `${count} certificates were ordered`
}

interface Bound {
  readonly made: readonly MadeOrder[]
  readonly bound: number
  readonly windowMs: number
  /**
   * How many waiting orders are served before this one. Each of them uses a place that becomes free
   * earlier.
   */
  readonly ahead: number
}

/**
 * When a place for this order is free; undefined if one is free now. Each of the waiting orders gets its own
 * time, so that they do not all come back at once.
 */
function freeAtMs({ made, bound, windowMs, ahead }: Bound, nowMs: number): number | undefined {
  const counted = made.filter(({ atMs }) => atMs > nowMs - windowMs)
  if (counted.length < bound) return undefined
  const next = counted[counted.length - bound + (ahead % bound)]!
  return next.atMs + windowMs * (1 + Math.floor(ahead / bound))
}

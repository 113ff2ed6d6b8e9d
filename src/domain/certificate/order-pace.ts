/**
 * How many orders for certificates the platform makes with an authority. An authority bounds them per
 * account, and the platform has one account for all its users, so that one user with many domains could leave
 * nothing to the others. So one user has a share, and renewals of what is in use have a share that new
 * certificates can not take. All pure.
 */
export interface OrderPace {
  /** What the authority takes from its account in `windowMs`. */
  readonly orders: number
  readonly windowMs: number
  /** And for one name in an hour: authorities stop looking at a name that fails. */
  readonly nameOrders: number
}

/**
 * What Let's Encrypt takes: 300 orders of an account in 3 hours, and 5 failed proofs of a name in an hour.
 */
export const defaultOrderPace: OrderPace = { orders: 300, windowMs: 10_800_000, nameOrders: 5 }

/** What new certificates leave to renewals. */
const renewalShare = 4
/**
 * One user has at most a quarter for new certificates, and as much for renewals; where there are fewer users,
 * the part of one.
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

/** Those that wait like the wanted one, and have waited for longer: they come first. */
export interface OrdersAhead {
  readonly ofUser: number
  readonly ofAll: number
}

export interface OrderPutOff {
  /** For the owner. */
  readonly reason: string
  readonly retryAtMs: number
}

/** How long an order that was made counts. */
export function orderCountsForMs({ windowMs }: OrderPace): number {
  return Math.max(windowMs, hourMs)
}

export interface KnownOrders {
  /** In the order of time. */
  readonly made: readonly MadeOrder[]
  readonly ahead: OrdersAhead
  /** Of the installation; more than `mostShares` make no difference. */
  readonly users: number
  readonly nowMs: number
}

/** Undefined where the order may be made now. */
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
  /** Each of them takes a place that becomes free before. */
  readonly ahead: number
}

/**
 * When a place is free, so that not all who wait come back at the same time; undefined where one is free now.
 */
function freeAtMs({ made, bound, windowMs, ahead }: Bound, nowMs: number): number | undefined {
  const counted = made.filter(({ atMs }) => atMs > nowMs - windowMs)
  if (counted.length < bound) return undefined
  const next = counted[counted.length - bound + (ahead % bound)]!
  return next.atMs + windowMs * (1 + Math.floor(ahead / bound))
}

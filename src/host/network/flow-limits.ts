/**
 * What one instance may take of the host's connection table. The whole host has one table: when it is full,
 * nobody gets a new connection, neither another user's instance nor the gateway.
 */
export interface FlowLimits {
  /** Open flows. Half-open flows and flows over UDP count too. */
  readonly open: number
  readonly newPerS: number
  readonly newBurst: number
}

/**
 * An instance may have 1/256 of the table open, and open 1/1024 of it per second. A flow that has ended
 * stays in the table for `endedFlowS`. So one instance takes at most 1.1 % of the table, and the 64
 * instances that an account has by default take at most 70 %.
 */
const openShare = 1 / 256
const newPerSShare = 1 / 1_024
/** The seconds of new flows that may come at once, because a page or a start opens many flows together. */
const burstS = 2
/**
 * Bounds for the number of open flows. While an instance opens more flows, the kernel looks through all of
 * its open ones up to 250 times per second.
 */
const openBounds = { least: 64, most: 4_096 }
const newPerSBounds = { least: 16, most: 1_024 }

/**
 * The limits for a table with room for `tableMax` entries: 262 144 on a host with more than 4 GiB, 65 536 on
 * a smaller one.
 */
export function flowLimitsFor(tableMax: number): FlowLimits {
  const newPerS = within(newPerSBounds, tableMax * newPerSShare)
  return { open: within(openBounds, tableMax * openShare), newPerS, newBurst: newPerS * burstS }
}

function within({ least, most }: { readonly least: number; readonly most: number }, value: number): number {
  return Math.min(most, Math.max(least, Math.floor(value)))
}

/**
 * How long an ended flow stays. After the kernel's own 120 s, ended flows would outnumber open ones by far.
 */
const endedFlowS = 5
/**
 * How long an idle flow stays: the least that RFC 5382 permits. The kernel's own five days would keep the
 * flows of killed VMs for too long.
 */
const idleFlowS = 7_440

/** The names of the counters of dropped packets. */
export const tooManyFlows = 'flows_too_many'
export const tooFastFlows = 'flows_too_fast'

/**
 * Sets, counters and the chain `opens`. The host's filter sends the packets of instances through this chain,
 * which drops what is over a bound and returns for the rest.
 */
export function flowRules(limits: FlowLimits): readonly string[] {
  return [
    `counter ${tooManyFlows} { }`,
    `counter ${tooFastFlows} { }`,
    'ct timeout of_instances { protocol tcp; l3proto ip;',
    `  policy = { established : ${idleFlowS}, time_wait : ${endedFlowS} }`,
    '}',
    // The sets have room for each address of the /16, so they are never full.
    `set flows { type ipv4_addr; size ${addresses}; flags dynamic; }`,
    `set opened { type ipv4_addr; size ${addresses}; flags dynamic,timeout; timeout 1m; }`,
    'chain opens {',
    '  ct state != new return',
    // The later packets of a flow that was never answered count as new to the kernel too, but they take no
    // further entry.
    '  ct status & confirmed == confirmed return',
    `  update @opened { ip saddr limit rate over ${limits.newPerS}/second burst ${limits.newBurst} packets } counter name ${tooFastFlows} drop`,
    `  add @flows { ip saddr ct count over ${limits.open} } counter name ${tooManyFlows} drop`,
    '  meta l4proto tcp ct timeout set "of_instances"',
    '}',
  ]
}

const addresses = 0x10000

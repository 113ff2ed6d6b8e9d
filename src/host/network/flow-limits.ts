/**
 * What one instance may have of the host's connection table. The table is one for the whole host: when it is
 * full, nobody gets a new connection, neither another user's instance nor the gateway.
 */
export interface FlowLimits {
  /** Flows that are open, half-open ones and those over UDP among them. */
  readonly open: number
  readonly newPerS: number
  readonly newBurst: number
}

/**
 * 1/256 of the table may be open, and 1/1024 be opened per second. A flow that has ended stays in the table
 * for `endedFlowS`. So one instance has 1.1 % of the table at most, and the 64 instances that an account has
 * by default 70 %.
 */
const openShare = 1 / 256
const newPerSShare = 1 / 1_024
/** A page or a start opens many at once. */
const burstS = 2
/**
 * The kernel looks at each flow that an instance has open, up to 250 times per second, while it opens more.
 */
const openBounds = { least: 64, most: 4_096 }
const newPerSBounds = { least: 16, most: 1_024 }

/**
 * `tableMax`: how many entries the table has room for; 262 144 on a host with more than 4 GiB, 65 536 on a
 * smaller one.
 */
export function flowLimitsFor(tableMax: number): FlowLimits {
  const newPerS = within(newPerSBounds, tableMax * newPerSShare)
  return { open: within(openBounds, tableMax * openShare), newPerS, newBurst: newPerS * burstS }
}

function within({ least, most }: { readonly least: number; readonly most: number }, value: number): number {
  return Math.min(most, Math.max(least, Math.floor(value)))
}

/** The kernel's own 120 s would let ended flows outnumber open ones by far. */
const endedFlowS = 5
/**
 * As long as RFC 5382 asks for at least; the kernel's own five days would keep what a VM that was killed has
 * left behind.
 */
const idleFlowS = 7_440

/** Names of counters of dropped packets. */
export const tooManyFlows = 'flows_too_many'
export const tooFastFlows = 'flows_too_fast'

/**
 * Sets, counters and the chain `opens`, to which the host's filter sends what instances send. It returns with
 * what may pass.
 */
export function flowRules(limits: FlowLimits): readonly string[] {
  return [
    `counter ${tooManyFlows} { }`,
    `counter ${tooFastFlows} { }`,
    'ct timeout of_instances { protocol tcp; l3proto ip;',
    `  policy = { established : ${idleFlowS}, time_wait : ${endedFlowS} }`,
    '}',
    // One element for each address of the /16, so that they are never full.
    `set flows { type ipv4_addr; size ${addresses}; flags dynamic; }`,
    `set opened { type ipv4_addr; size ${addresses}; flags dynamic,timeout; timeout 1m; }`,
    'chain opens {',
    '  ct state != new return',
    // Also the later packets of a flow that was never answered are new to the kernel; they take no further
    // entry.
    '  ct status & confirmed == confirmed return',
    `  update @opened { ip saddr limit rate over ${limits.newPerS}/second burst ${limits.newBurst} packets } counter name ${tooFastFlows} drop`,
    `  add @flows { ip saddr ct count over ${limits.open} } counter name ${tooManyFlows} drop`,
    '  meta l4proto tcp ct timeout set "of_instances"',
    '}',
  ]
}

const addresses = 0x10000

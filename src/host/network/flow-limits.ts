/**
 * The limits of one instance in the host's connection table. The whole host has one table: when it is full,
 * nobody gets a new connection, neither another user's instance nor the gateway.
 */
export interface FlowLimits {
  /** The most open flows. Half-open flows and flows over UDP count too. */
  readonly open: number
  readonly newPerS: number
  readonly newBurst: number
}

/**
 * The shares of the table of one instance: 1/256 of the table for open flows, and 1/1024 for flows that it
 * opens per second. A flow that has ended stays in the table for `endedFlowS`. So one instance takes at most
 * 1.1 % of the table, and the 64 instances that an account has by default take at most 70 %.
 */
const openShare = 1 / 256
const newPerSShare = 1 / 1_024
/** How many seconds' worth of new flows may come at once. A page or a start opens many flows together. */
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
 * How long an ended flow stays in the table. With the kernel's own 120 s, there would be far more ended
 * flows than open ones.
 */
const endedFlowS = 5
/**
 * How long an idle flow stays in the table: the least that RFC 5382 permits. With the kernel's own five
 * days, the flows of killed VMs would stay too long.
 */
const idleFlowS = 7_440

/**
 * How long a question for a name stays in the table. With the kernel's own 30 s, an instance that asks 40
 * times per second would have as many open flows as it may.
 */
const questionS = 10
const answeredQuestionS = 1
/** The rules that shorten the time of a flow that is a question. */
export const nameFlows: readonly string[] = ['meta l4proto udp ct timeout set "of_questions"']

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
    'ct timeout of_questions { protocol udp; l3proto ip;',
    `  policy = { unreplied : ${questionS}, replied : ${answeredQuestionS} }`,
    '}',
    // The sets have room for every address of the /16, so they are never full.
    `set flows { type ipv4_addr; size ${addresses}; flags dynamic; }`,
    `set opened { type ipv4_addr; size ${addresses}; flags dynamic,timeout; timeout 1m; }`,
    'chain opens {',
    '  ct state != new return',
    // The kernel counts the later packets of a flow that was never answered as new too, but they take no
    // further entry. So they pass.
    '  ct status & confirmed == confirmed return',
    `  update @opened { ip saddr limit rate over ${limits.newPerS}/second burst ${limits.newBurst} packets } counter name ${tooFastFlows} drop`,
    `  add @flows { ip saddr ct count over ${limits.open} } counter name ${tooManyFlows} drop`,
    '  meta l4proto tcp ct timeout set "of_instances"',
    '}',
  ]
}

const addresses = 0x10000

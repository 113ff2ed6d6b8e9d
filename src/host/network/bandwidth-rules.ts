/**
 * The bytes of one Mbit/s. Operators give bandwidth in Mbit/s, a million bits per second, for each
 * direction.
 */
const bytesPerMbit = 125_000
/**
 * The bytes that may pass at once beyond the rate: four of the largest packets that a VM sends, so that such
 * a packet passes even at a low rate. Besides, the kernel always lets one second's worth pass at once.
 */
export const burstBytes = 4 * 65_536

/** The name of the counter of dropped packets. */
export const tooMuchBandwidth = 'bandwidth'

export interface BandwidthRules {
  readonly sets: readonly string[]
  /**
   * Rules that drop what a VM sends beyond its rate, for a chain that sees what ports of the bridge send.
   */
  readonly sent: readonly string[]
  /** The rules for the other direction: they drop what is sent to a VM beyond its rate. */
  readonly received: readonly string[]
}

/**
 * Rules for the bridge's filter: each port of the bridge has a rate for each direction. The rates are those
 * of nftables; queues of `tc` would take two processes for each TAP at each start. Without `mbit` there are
 * no rules.
 */
export function bandwidthRules(mbit: number | undefined, ports: { readonly most: number }): BandwidthRules {
  if (mbit === undefined) return { sets: [], sent: [], received: [] }
  const bytesPerS = mbit * bytesPerMbit
  const rate = `limit rate over ${bytesPerS} bytes/second burst ${burstBytes} bytes`
  const set = (name: string): string =>
    `set ${name} { type ifname; size ${ports.most}; flags dynamic,timeout; timeout 1m; }`
  const drop = `counter name ${tooMuchBandwidth} drop`
  return {
    sets: [`counter ${tooMuchBandwidth} { }`, set('rates_sent'), set('rates_received')],
    sent: [`  update @rates_sent { iifname ${rate} } ${drop}`],
    received: [`  update @rates_received { oifname ${rate} } ${drop}`],
  }
}

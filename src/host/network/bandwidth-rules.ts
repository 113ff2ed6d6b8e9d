/** As an operator says it: a million bits per second, for each direction. */
const bytesPerMbit = 125_000
/**
 * Four of the largest packets that a VM hands over, so that one of them passes at a low rate as well. The
 * kernel lets one second's worth come at once besides, whatever is said here.
 */
export const burstBytes = 4 * 65_536

/** Name of the counter of dropped packets. */
export const tooMuchBandwidth = 'bandwidth'

export interface BandwidthRules {
  readonly sets: readonly string[]
  /** Drops what a VM sends beyond its rate, in a chain that sees what comes from ports of the bridge. */
  readonly sent: readonly string[]
  /** The same of what a VM is sent. */
  readonly received: readonly string[]
}

/**
 * For the bridge's filter: each of its ports has a rate for each direction. It is a rate of nftables and no
 * queue of `tc`, which would take two processes for each TAP at each start. Nothing where `mbit` is
 * undefined.
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

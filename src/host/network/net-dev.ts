import type { NicCounters } from './network.ts'

export type InterfaceCounters = NicCounters

/**
 * The column of sent bytes in /proc/net/dev. After the name, columns 0 and 1 are received bytes and packets,
 * 8 and 9 sent ones.
 */
const sentColumn = 8

/** All interfaces with their counters, from the text of `/proc/net/dev`. One read serves all of them. */
export function parseNetDev(text: string): ReadonlyMap<string, InterfaceCounters> {
  const interfaces = new Map<string, InterfaceCounters>()
  for (const line of text.split('\n').slice(2)) {
    const colon = line.lastIndexOf(':')
    if (colon < 0) continue
    const numbers = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
      .map(Number)
    interfaces.set(line.slice(0, colon).trim(), {
      rxBytes: numbers[0] ?? 0,
      rxPackets: numbers[1] ?? 0,
      txBytes: numbers[sentColumn] ?? 0,
      txPackets: numbers[sentColumn + 1] ?? 0,
    })
  }
  return interfaces
}

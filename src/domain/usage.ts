/** Resource use of an instance as its host accounts for it. All but `rssBytes` accumulate over starts. */
export interface Usage {
  readonly rssBytes: number
  readonly cpuTimeMs: number
  readonly rxBytes: number
  readonly rxPackets: number
  readonly txBytes: number
  readonly txPackets: number
}

export const noUsage: Usage = {
  rssBytes: 0,
  cpuTimeMs: 0,
  rxBytes: 0,
  rxPackets: 0,
  txBytes: 0,
  txPackets: 0,
}

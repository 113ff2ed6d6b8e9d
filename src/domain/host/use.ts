/** What an administrator lets a host have. */
export const HostUse = {
  /** New instances and volumes may be placed there. */
  Open: 'open',
  /** Nothing new is placed there. What it has goes on, restarts, wakes and starts there as before. */
  Cordoned: 'cordoned',
  /** The same, and its instances move to other hosts. */
  Draining: 'draining',
} as const
export type HostUse = (typeof HostUse)[keyof typeof HostUse]

/** The use of a host by its row. */
export function hostUse({
  cordonedAt,
  drainingAt,
}: {
  readonly cordonedAt: Date | null
  readonly drainingAt: Date | null
}): HostUse {
  if (drainingAt !== null) return HostUse.Draining
  return cordonedAt === null ? HostUse.Open : HostUse.Cordoned
}

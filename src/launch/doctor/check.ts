/** One thing that Roost needs or can use on this machine, and how it is. */
export interface DoctorCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'missing'
  readonly detail: string
  /** What mends it. */
  readonly remedy?: string
}

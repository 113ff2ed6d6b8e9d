/** The result for one thing that Roost needs or can use on this machine. */
export interface DoctorCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'missing'
  readonly detail: string
  /** What the user can do about it. */
  readonly remedy?: string
}

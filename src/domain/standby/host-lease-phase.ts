/** The phases of one instance on its host; the diagram is in `host-lease.ts`. */
export const LeasePhase = {
  /** Nothing runs and nothing may be woken. */
  None: 'none',
  /** Its workflow brings it up. */
  Starting: 'starting',
  Running: 'running',
  /** Runs for the existing connections only; no new traffic is admitted. */
  Draining: 'draining',
  /** An order to stand by is carried out; traffic waits. */
  StandingBy: 'standing-by',
  /** In standby, with the permit for one boot. */
  Asleep: 'asleep',
  /** In standby like `asleep`, but nothing wakes it: it moves to or from another host. Traffic waits. */
  Held: 'held',
  /** The permit's boot comes up, whoever asked for it. */
  Waking: 'waking',
  /** Is being stopped; `none` follows. */
  Stopping: 'stopping',
} as const
export type LeasePhase = (typeof LeasePhase)[keyof typeof LeasePhase]

/** What a user sees of a volume. */
export const VolumeState = {
  /** Requested; its host has not begun. */
  Uninitialized: 'uninitialized',
  /** Being created and formatted. */
  Initializing: 'initializing',
  /** Healthy, and no instance has it. */
  Available: 'available',
  /** Attached to an instance that is stopped. */
  Idle: 'idle',
  /** Attached to an instance that runs, sleeps, or is about to start. */
  Mounted: 'mounted',
  /** Being repaired. */
  Busy: 'busy',
  /** Needs an operator; the volume says why. */
  Error: 'error',
} as const
export type VolumeState = (typeof VolumeState)[keyof typeof VolumeState]
export const volumeStates = Object.values(VolumeState)

/**
 * What the volume's own workflow knows: the state of its file system. Attachments are recorded with
 * instances. So the state that a user sees is computed from both whenever it is read, and can not
 * contradict either.
 */
export const VolumePhase = {
  Uninitialized: 'uninitialized',
  Initializing: 'initializing',
  Ready: 'ready',
  Busy: 'busy',
  Error: 'error',
} as const
export type VolumePhase = (typeof VolumePhase)[keyof typeof VolumePhase]

/**
 * How a volume is used. `Resting` means that its instance is stopped and no start is due, `Live` that it is
 * attached to an instance in any other state.
 */
export const VolumeUse = { None: 'none', Resting: 'resting', Live: 'live' } as const
export type VolumeUse = (typeof VolumeUse)[keyof typeof VolumeUse]

const stateOf = {
  [VolumePhase.Uninitialized]: always(VolumeState.Uninitialized),
  [VolumePhase.Initializing]: always(VolumeState.Initializing),
  [VolumePhase.Ready]: {
    [VolumeUse.None]: VolumeState.Available,
    [VolumeUse.Resting]: VolumeState.Idle,
    [VolumeUse.Live]: VolumeState.Mounted,
  },
  [VolumePhase.Busy]: always(VolumeState.Busy),
  [VolumePhase.Error]: always(VolumeState.Error),
} satisfies Record<VolumePhase, Record<VolumeUse, VolumeState>>

function always(state: VolumeState): Record<VolumeUse, VolumeState> {
  return { [VolumeUse.None]: state, [VolumeUse.Resting]: state, [VolumeUse.Live]: state }
}

export function volumeState(phase: VolumePhase, use: VolumeUse): VolumeState {
  return stateOf[phase][use]
}

/**
 * What a user may ask of a volume. The use decides beside the state: a volume is never taken from an instance
 * that may run with it.
 */
export const VolumeCommand = { Attach: 'attach', Detach: 'detach', Delete: 'delete' } as const
export type VolumeCommand = (typeof VolumeCommand)[keyof typeof VolumeCommand]

export const VolumeRefusal = {
  /** Only an available volume can be attached. */
  NotAvailable: 'not-available',
  /** An instance has the volume mounted. */
  Mounted: 'mounted',
  /** The volume has to be detached first. */
  Attached: 'attached',
} as const
export type VolumeRefusal = (typeof VolumeRefusal)[keyof typeof VolumeRefusal]

type Verdict = 'permitted' | VolumeRefusal
const permitted = 'permitted'
const { NotAvailable, Mounted, Attached } = VolumeRefusal

/**
 * The verdict on each command, by the use of the volume. Detaching a volume that is not attached changes
 * nothing and is no error.
 */
const verdicts = {
  [VolumeUse.None]: { attach: NotAvailable, detach: permitted, delete: permitted },
  [VolumeUse.Resting]: { attach: NotAvailable, detach: permitted, delete: Attached },
  [VolumeUse.Live]: { attach: NotAvailable, detach: Mounted, delete: Attached },
} satisfies Record<VolumeUse, Record<VolumeCommand, Verdict>>

/** Returns the refusal, or undefined if the command is permitted. */
export function volumeRefusal(
  command: VolumeCommand,
  { phase, use }: { readonly phase: VolumePhase; readonly use: VolumeUse },
): VolumeRefusal | undefined {
  if (command === VolumeCommand.Attach && volumeState(phase, use) === VolumeState.Available) return undefined
  const verdict: Verdict = verdicts[use][command]
  return verdict === permitted ? undefined : verdict
}

/** How an instance mounts its volume. */
export interface VolumeMount {
  /** The path in the instance, as `parseMountPath` returns it. */
  readonly at: string
  readonly readonly: boolean
}

export const volumeNamePrefix = 'vol'

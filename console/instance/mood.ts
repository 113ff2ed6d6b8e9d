import { InstanceState } from '../../src/domain/instance/state.ts'
import { StopBit } from '../../src/domain/instance/stop-reason.ts'
import type { Entry } from '../../src/client/answers.ts'

export type Instance = Entry<'GetInstancesAnswer'>

/** How an instance is, as a person sees it at a glance. Each mood has a colour and a sign. */
export const Mood = {
  Runs: 'runs',
  Sleeps: 'sleeps',
  Moves: 'moves',
  Fails: 'fails',
  Rests: 'rests',
} as const
export type Mood = (typeof Mood)[keyof typeof Mood]

export const moods = Object.values(Mood)

export const moodWords: Readonly<Record<Mood, string>> = {
  [Mood.Runs]: 'Running',
  [Mood.Sleeps]: 'Asleep',
  [Mood.Moves]: 'Changing',
  [Mood.Fails]: 'Failing',
  [Mood.Rests]: 'Stopped',
}

const byState: Readonly<Record<InstanceState, Mood>> = {
  [InstanceState.Running]: Mood.Runs,
  [InstanceState.Standby]: Mood.Sleeps,
  [InstanceState.Starting]: Mood.Moves,
  [InstanceState.Draining]: Mood.Moves,
  [InstanceState.Stopping]: Mood.Moves,
  [InstanceState.Stopped]: Mood.Rests,
}

const stateWords: Readonly<Record<InstanceState, string>> = {
  [InstanceState.Running]: 'Running',
  [InstanceState.Standby]: 'Asleep',
  [InstanceState.Starting]: 'Starting',
  [InstanceState.Draining]: 'Draining',
  [InstanceState.Stopping]: 'Stopping',
  [InstanceState.Stopped]: 'Stopped',
}

/**
 * An instance fails if its last start or wake did, if its restart policy is about to start it again, or if it
 * ended by itself with anything but exit code 0.
 */
export function moodOf(instance: Instance): Mood {
  if (instance.failure !== undefined || instance.restart?.next_at !== undefined) return Mood.Fails
  if (instance.state === undefined) return Mood.Rests
  if (instance.state === InstanceState.Stopped && endedBadly(instance)) return Mood.Fails
  return byState[instance.state]
}

/** The state in one word. An instance that fails says so, unless it runs again meanwhile. */
export function stateWord(instance: Instance): string {
  const state = instance.state ?? InstanceState.Stopped
  if (moodOf(instance) !== Mood.Fails) return stateWords[state]
  if (instance.restart?.next_at !== undefined) return 'Restarting'
  return state === InstanceState.Stopped ? 'Failed' : stateWords[state]
}

function endedBadly({ stop_reason: reason, exit_code: exitCode }: Instance): boolean {
  if (reason === undefined || (reason & (StopBit.User | StopBit.Platform)) !== 0) return false
  return exitCode === undefined ? reason !== 0 : exitCode !== 0
}

/** Why an instance stopped, in words; undefined while it has not. */
export function stopText(instance: Instance): string | undefined {
  const { state, stop_reason: reason, exit_code: exitCode } = instance
  if (state !== InstanceState.Stopped) return undefined
  if (instance.stopped_at === undefined) return 'It was never started.'
  if (reason === undefined) return undefined
  const forced = (reason & StopBit.Forced) !== 0 ? ' by force' : ''
  const code = exitCode === undefined ? '' : ` Its application ended with exit code ${exitCode}.`
  if ((reason & StopBit.User) !== 0) return `It was stopped${forced} as somebody asked for.${code}`
  if ((reason & StopBit.Platform) !== 0) return `The platform stopped it${forced}.${code}`
  if ((reason & StopBit.Application) !== 0)
    return `Its application ended by itself with exit code ${exitCode}.`
  if ((reason & StopBit.Kernel) !== 0) return 'Its application crashed.'
  return 'Its VM ended unexpectedly on the host.'
}

import { InstanceState, instanceStates } from './state.ts'

export type StateCounts = Readonly<Partial<Record<InstanceState, number>>>

export function countStates(states: readonly InstanceState[]): StateCounts {
  const groups = Map.groupBy(states, (state) => state)
  return Object.fromEntries([...groups].map(([state, same]) => [state, same.length]))
}

/** What one instance does in a state, and what several do. */
const verbs = {
  [InstanceState.Running]: ['runs', 'run'],
  [InstanceState.Starting]: ['starts', 'start'],
  [InstanceState.Standby]: ['sleeps', 'sleep'],
  [InstanceState.Draining]: ['drains', 'drain'],
  [InstanceState.Stopping]: ['is stopping', 'are stopping'],
  [InstanceState.Stopped]: ['is stopped', 'are stopped'],
} satisfies Record<InstanceState, readonly [one: string, many: string]>

/** The states in the order in which a tally names them: first those that serve. */
const order = Object.keys(verbs) as readonly InstanceState[]

export function verbOf(state: InstanceState): string {
  return verbs[state][0]
}

/** How many instances there are in each state, such as `2 instances run, 1 sleeps`. */
export function tallyOf(counts: StateCounts): string {
  const parts = order
    .map((state) => ({ state, count: counts[state] ?? 0 }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }, index) => {
      const noun = index > 0 ? '' : count === 1 ? 'instance ' : 'instances '
      return `${count} ${noun}${verbs[state][count === 1 ? 0 : 1]}`
    })
  return parts.length === 0 ? 'no instance is there' : parts.join(', ')
}

export function totalOf(counts: StateCounts): number {
  return instanceStates.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
}

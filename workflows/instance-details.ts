import { InstanceState } from '../src/domain/instance-state.ts'
import { Deletion, StartOrigin } from '../src/domain/lifecycle-state.ts'
import type { Lifecycle } from '../src/domain/lifecycle-state.ts'
import { problemFreeAtMs } from '../src/domain/lifecycle-moves.ts'

/** What the Web UI shows of an instance: its state, why it is in it, and what comes next. */
export function instanceDetails(
  life: Lifecycle,
  of: { readonly name: string; readonly nodeId: string; readonly nodeAway: boolean },
): string {
  const { nodeId } = of
  const lines = [
    `${of.name}: ${life.deletion === undefined ? `**${life.state}** ${why(life)}` : '**deleting**'}`,
    '',
    `- next: ${whatComesNext(life, nodeId)}`,
    life.boot === 0
      ? `- on host ${nodeId}, never started`
      : `- boot ${life.boot} on host ${nodeId}, started ${times(life.startCount)}`,
    `- restarts: ${life.restartCount} in all, ${life.restartAttempt} in this sequence, policy \`${life.restartPolicy}\``,
  ]
  if (of.nodeAway) lines.push(`- **waiting for node ${nodeId}**: it takes no work at present`)
  if (life.failure !== undefined) lines.push(`- the last try failed: ${life.failure}`)
  return lines.join('\n')
}

function times(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : `${count} times`
}

const startedBy = {
  [StartOrigin.User]: 'as asked',
  [StartOrigin.Policy]: 'again, by its restart policy',
  [StartOrigin.Platform]: 'again, because its host had been halted',
} satisfies Record<StartOrigin, string>

function why(life: Lifecycle): string {
  return reasons[life.state](life)
}

const reasons = {
  [InstanceState.Starting]: (life) => startedBy[life.startOrigin],
  [InstanceState.Running]: (life) =>
    `since ${timeOf(life.report?.startedAtMs)}, started ${startedBy[life.startOrigin]}`,
  [InstanceState.Draining]: () => 'as asked',
  [InstanceState.Stopping]: (life) => (life.asked?.forced === true ? 'by force, as asked' : 'as asked'),
  [InstanceState.Stopped]: (life) => stoppedBy(life),
  [InstanceState.Standby]: () => '',
} satisfies Record<InstanceState, (life: Lifecycle) => string>

function stoppedBy(life: Lifecycle): string {
  if (life.boot === 0) return 'because nobody started it yet'
  const { outcome } = life
  const exit = outcome?.exitCode === undefined ? '' : `, exit code ${outcome.exitCode}`
  const code = outcome?.stopCode === undefined ? '' : `, stop code ${outcome.stopCode}`
  return `at ${timeOf(life.stoppedAtMs)}, stop reason ${outcome?.stopReason ?? 0}${exit}${code}`
}

/** One line for people, also the summary of the timer that leads there. */
export function whatComesNext(life: Lifecycle, nodeId: string): string {
  if (life.deletion === Deletion.Wanted) return `host ${nodeId} removes it, then its row goes`
  if (life.deletion === Deletion.Done) return 'its row goes'
  return plans[life.state](life, nodeId)
}

const plans = {
  [InstanceState.Starting]: (life, nodeId) =>
    life.retryAtMs === undefined ? `host ${nodeId} brings it up` : `another try at ${timeOf(life.retryAtMs)}`,
  [InstanceState.Running]: (life) => {
    const atMs = problemFreeAtMs(life)
    return atMs === undefined ? 'nothing, it runs' : `the restart sequence ends at ${timeOf(atMs)}`
  },
  [InstanceState.Draining]: (life) =>
    `shut down when nothing is connected, at the latest ${timeOf(life.drainUntilMs)}`,
  [InstanceState.Stopping]: (life, nodeId) =>
    life.startAgain === true ? `host ${nodeId} ends it, then it starts again` : `host ${nodeId} ends it`,
  [InstanceState.Stopped]: (life) =>
    life.restartAtMs === undefined
      ? 'nothing, until it is started'
      : `restart at ${timeOf(life.restartAtMs)}`,
  [InstanceState.Standby]: () => 'nothing',
} satisfies Record<InstanceState, (life: Lifecycle, nodeId: string) => string>

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? 'an unknown time' : new Date(atMs).toISOString()
}

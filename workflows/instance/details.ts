import { InstanceState } from '../../src/domain/instance/state.ts'
import { Deletion, StartOrigin } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import { isRenewal } from '../../src/domain/instance/lifecycle-change.ts'
import { problemFreeAtMs } from '../../src/domain/instance/lifecycle-moves.ts'
import { moveWords } from '../../src/domain/instance/move-words.ts'
import { speaksAgainstStandby } from '../../src/domain/instance/lifecycle-projection.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import { standbyDueAtMs, wakePatienceMs } from '../../src/domain/instance/lifecycle-standby.ts'

/** What the Web UI shows of an instance: its state, why it is in it, and what comes next. */
export function instanceDetails(
  life: Lifecycle,
  of: {
    readonly name: string
    readonly nodeId: string
    readonly nodeAway: boolean
    /** What no host has enough of, while another host is looked for. */
    readonly lack?: string | undefined
  },
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
  if (life.config !== undefined) lines.push(configurationLine(life.config))
  if (life.placing === true) lines.push(`- **host ${nodeId} is lost**: ${searchFor(of.lack)}`)
  if (life.move !== undefined) lines.push(`- moves to host ${life.move.to.nodeId}: ${moveWords(life.move)}`)
  else if (life.moveFailure !== undefined) lines.push(moveFailureLine(life.moveFailure))
  if (of.nodeAway) lines.push(`- **waiting for host ${nodeId}**: it takes no work at present`)
  if (life.failure !== undefined) lines.push(`- the last try failed: ${life.failure}`)
  return lines.join('\n')
}

function searchFor(lack: string | undefined): string {
  return lack === undefined ? 'another one is chosen' : `it waits for another one, because ${lack}`
}

function moveFailureLine({ to, atMs, why }: NonNullable<Lifecycle['moveFailure']>): string {
  return `- it did not move to host ${to.nodeId} at ${timeOf(atMs)}: ${why}`
}

function configurationLine({ version, hostVersion }: NonNullable<Lifecycle['config']>): string {
  const told = hostVersion < version ? ', which its host does not know yet' : ''
  return `- configuration: version ${version}${told}`
}

function times(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : `${count} times`
}

const startedBy = {
  [StartOrigin.User]: 'as asked',
  [StartOrigin.Policy]: 'again, by its restart policy',
  [StartOrigin.Platform]: 'again, because its host was halted, cut off or lost',
  [StartOrigin.Traffic]: 'by traffic, out of standby',
} satisfies Record<StartOrigin, string>

function why(life: Lifecycle): string {
  return reasons[life.state](life)
}

const reasons = {
  [InstanceState.Starting]: (life) => startedBy[life.startOrigin],
  [InstanceState.Running]: (life) =>
    `since ${timeOf(life.report?.startedAtMs)}, started ${startedBy[life.startOrigin]}${whyAwake(life)}`,
  [InstanceState.Draining]: (life) => whyEnding(life),
  [InstanceState.Stopping]: (life) => (life.asked?.forced === true ? 'by force, as asked' : whyEnding(life)),
  [InstanceState.Stopped]: (life) => stoppedBy(life),
  [InstanceState.Standby]: (life) => whyAsleep(life),
} satisfies Record<InstanceState, (life: Lifecycle) => string>

function whyEnding(life: Lifecycle): string {
  return isRenewal(life) ? 'for a restart with its changed configuration' : 'as asked'
}

function whyAwake(life: Lifecycle): string {
  if (life.suspend !== undefined) return '; being sent to standby, as asked'
  if (life.scaleToZero === undefined) return ''
  if (speaksAgainstStandby(life)) return '; kept awake by itself: its scale_to_zero_disable count is above 0'
  if (life.order !== undefined) return '; idle, and being sent to standby'
  const idle = standbyDueAtMs(life) === undefined ? undefined : life.idle
  return idle === undefined
    ? `; its host has not yet told that nothing asked for it for ${cooldownOf(life.scaleToZero)}`
    : `; idle since ${timeOf(idle.sinceMs)}`
}

function whyAsleep({ sleep, stoppedAtMs }: Lifecycle): string {
  if (sleep?.boot === 0) return 'from its creation: nothing has asked for it yet'
  const memory =
    sleep?.snapshotUuid === undefined ? '' : `, its memory is kept in snapshot ${sleep.snapshotUuid}`
  const why = sleep?.suspended === true ? 'as asked' : 'because nothing asked for it'
  return `since ${timeOf(stoppedAtMs)}, ${why}${memory}`
}

function stoppedBy(life: Lifecycle): string {
  if (life.boot === 0) return 'because nobody started it yet'
  const { outcome } = life
  const exit = outcome?.exitCode === undefined ? '' : `, exit code ${outcome.exitCode}`
  const code = outcome?.stopCode === undefined ? '' : `, stop code ${outcome.stopCode}`
  return `at ${timeOf(life.stoppedAtMs)}, stop reason ${outcome?.stopReason ?? 0}${exit}${code}`
}

/** Says in one line what comes next. The line is also the summary of the timer that runs until then. */
export function whatComesNext(life: Lifecycle, nodeId: string): string {
  if (life.deletion === Deletion.Wanted) return `host ${nodeId} removes it, then its row goes`
  if (life.deletion === Deletion.Done) return 'its row goes'
  if (life.placing === true) return 'another host is looked for'
  return plans[life.state](life, nodeId)
}

const plans = {
  [InstanceState.Starting]: (life, nodeId) => {
    if (life.retryAtMs !== undefined) return `another try at ${timeOf(life.retryAtMs)}`
    if (life.wakingSinceMs === undefined) return `host ${nodeId} brings it up`
    return `host ${nodeId} wakes it; it is asked how that goes at ${timeOf(life.wakingSinceMs + wakePatienceMs)}`
  },
  [InstanceState.Running]: (life, nodeId) => {
    if (life.order?.drainMs !== undefined)
      return `host ${nodeId} sends it to standby${life.startAgain === true ? ', then it starts again' : ''}`
    if (life.order !== undefined) return `host ${nodeId} sends it to standby, unless traffic comes`
    const problemFree = problemFreeAtMs(life)
    const standby = standbyDueAtMs(life)
    if (standby !== undefined && standby <= (problemFree ?? Infinity)) {
      return `standby at ${timeOf(standby)} unless traffic comes`
    }
    if (problemFree !== undefined) return `the restart sequence ends at ${timeOf(problemFree)}`
    return life.scaleToZero === undefined
      ? 'nothing, it runs'
      : `standby when nothing has asked for it for ${cooldownOf(life.scaleToZero)}`
  },
  [InstanceState.Draining]: (life) =>
    `shut down when nothing is connected, at the latest ${timeOf(life.drainUntilMs)}${thenStarts(life)}`,
  [InstanceState.Stopping]: (life, nodeId) =>
    life.startAgain === true
      ? `host ${nodeId} ends it, then it starts again`
      : `host ${nodeId} ends it${thenGoes(life)}`,
  [InstanceState.Stopped]: (life, nodeId) => {
    if (life.restartAtMs !== undefined) return `restart at ${timeOf(life.restartAtMs)}`
    return life.givenUp === undefined
      ? 'nothing, until it is started'
      : `host ${nodeId} ends what its last try may have left`
  },
  [InstanceState.Standby]: (life, nodeId) => {
    if (life.retryAtMs !== undefined) return `host ${nodeId} is told again at ${timeOf(life.retryAtMs)}`
    return life.order === undefined
      ? 'nothing, until traffic or a start wakes it'
      : `host ${nodeId} takes it into standby`
  },
} satisfies Record<InstanceState, (life: Lifecycle, nodeId: string) => string>

function thenStarts(life: Lifecycle): string {
  return life.startAgain === true ? ', then it starts again' : thenGoes(life)
}

function thenGoes({ retired }: Lifecycle): string {
  return retired === true ? '; then it is deleted' : ''
}

function cooldownOf({ cooldownMs }: ScaleToZero): string {
  return `${cooldownMs / 1_000} s`
}

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? 'an unknown time' : new Date(atMs).toISOString()
}

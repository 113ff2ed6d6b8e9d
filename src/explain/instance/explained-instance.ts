import { scaleToZeroOf } from '../../db/instance/row.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { pendingProperties } from '../../domain/instance/change.ts'
import { isWithHosts } from '../../domain/instance/lifecycle-state.ts'
import type { ExplainedInstance } from '../../domain/instance/explanation.ts'

/** What is recorded about an instance, in the form that its explanation needs. */
export function factsOf(row: InstanceRow): ExplainedInstance {
  const { name, nodeId, state, boot, stopReason, exitCode, snapshotUuid, failure } = row
  const waiting = pendingProperties(row)
  const known = {
    startedAtMs: row.startedAt?.getTime(),
    stoppedAtMs: row.stoppedAt?.getTime(),
    restartAtMs: row.restartNextAt?.getTime(),
    stopReason,
    exitCode,
    snapshotUuid,
    failure,
    isRetired: row.retiredAt === null ? undefined : true,
    isWayBack: row.rolloutUuid !== null && row.serviceUuid === null ? true : undefined,
    suspended: row.suspended ? true : undefined,
    movesTo: isHeldToMove(row.move) ? row.move?.to.nodeId : undefined,
    hasVolume: row.volumeUuid === null ? undefined : true,
    waiting: waiting.length === 0 ? undefined : waiting,
  }
  const facts = Object.entries(known).filter(([, value]) => value !== null && value !== undefined)
  return { name, nodeId, state, boot, scaleToZero: scaleToZeroOf(row), ...Object.fromEntries(facts) }
}

/** Whether a start waits for a move that is under way. */
function isHeldToMove(move: InstanceRow['move']): boolean {
  return move?.step !== undefined && isWithHosts(move.step)
}

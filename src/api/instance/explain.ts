import type { explainInstances } from '../../contract/instance/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import type { HostLeaseView } from '../../domain/standby/lease-protocol.ts'
import { instanceExplanation, instanceNote, instanceText } from '../../explain/instance/explanation.ts'
import type { InstanceExplanation, InstanceSources } from '../../explain/instance/explanation.ts'
import { leaseReader } from '../../explain/instance/host-lease.ts'
import type { Call, Handler } from '../call.ts'
import { controlQuestions } from '../control-questions.ts'
import type { ApiDeps } from '../deps.ts'
import { timestamp } from '../timestamp.ts'
import { forEachInstance } from './objects.ts'

type Entry = OperationEntry<typeof explainInstances>

/** Why instances are awake, asleep or stopped, and what comes next. */
export function instancesExplain(deps: ApiDeps): Handler<typeof explainInstances> {
  return async ({ objects }, call) => {
    const sources = sourcesOf(deps, call)
    const entries = await forEachInstance(deps, call, objects, async (row) =>
      present(row, await instanceExplanation(deps.database, row, sources)),
    )
    return { entries }
  }
}

function sourcesOf({ nodes, control, nowMs }: ApiDeps, { log }: Call): InstanceSources {
  const drainUntil = controlQuestions(
    (uuid) => control.drainUntilMs(uuid),
    (error) => log.warn({ err: error }, 'the workflow of a draining instance could not be asked'),
  )
  return {
    readLease: leaseReader(nodes, (error) => log.warn({ err: error }, 'the host does not answer')),
    async readDrainUntil(uuid) {
      const answer = await drainUntil(uuid)
      return answer.isSilent ? undefined : answer.value
    },
    nowMs: nowMs(),
  }
}

function present({ uuid, name, state, nodeId }: InstanceRow, explanation: InstanceExplanation): Entry {
  const { now, next, failure, lease, placed, move, volume } = explanation
  const note = instanceNote(explanation)
  const text = instanceText(explanation)
  return {
    status: 'success',
    uuid,
    name,
    state,
    now,
    next,
    ...(failure === undefined ? {} : { failure }),
    ...(note === undefined ? {} : { note }),
    text: note === undefined ? text : `${note}\n${text}`,
    host: nodeId,
    ...(placed === undefined ? {} : { placed }),
    ...(move === undefined ? {} : { move }),
    ...(lease === undefined || !phases.includes(lease.phase) ? {} : { lease: presentLease(lease) }),
    ...(volume === undefined ? {} : { volume }),
  }
}

/** A host of another release may report a phase that is not among these. Its lease is left out then. */
const phases: readonly LeasePhase[] = Object.values(LeasePhase)

/** The lease without what only hosts need: the boots and the permit. */
function presentLease(lease: HostLeaseView): NonNullable<Entry['lease']> {
  const { phase, awake, leases, requests, connections, queued, disabled, heldBack } = lease
  const { idleSinceMs, wakeFailure, stalledSinceMs, noRoom } = lease
  return {
    phase,
    awake,
    leases,
    requests,
    connections,
    queued,
    disabled,
    ...(idleSinceMs === undefined ? {} : { idle_since: atMs(idleSinceMs) }),
    ...(heldBack === undefined ? {} : { held_back: heldBack }),
    ...(wakeFailure === undefined
      ? {}
      : { wake_failure: { message: wakeFailure.message, retry_at: atMs(wakeFailure.retryAtMs) } }),
    ...(stalledSinceMs === undefined ? {} : { stalled_since: atMs(stalledSinceMs) }),
    ...(noRoom === undefined
      ? {}
      : { no_room: { at: atMs(noRoom.atMs), needed_mb: noRoom.neededMb, left_mb: noRoom.leftMb } }),
  }
}

function atMs(ms: number): string {
  return timestamp(new Date(ms))
}

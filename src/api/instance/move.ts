import { randomUUID } from 'node:crypto'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { moveInstances } from '../../contract/instance/operations.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import type { Target } from '../../contract/request/parsed-request.ts'
import { writeAsked } from '../../db/instance/asked-event.ts'
import { findByUuids, findInstances } from '../../db/instance/instances.ts'
import { planMove } from '../../db/instance/move.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { workflowSettings } from '../../db/instance/settings.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { MoveRefused } from '../../domain/instance/move-refused.ts'
import type { MoveRequest } from '../../../workflows/instance/messages.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance, missingEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import { forEachInstance } from './objects.ts'
import { waitForInstance, waitMs } from './waiting.ts'

type Entry = OperationEntry<typeof moveInstances> | FailedEntry
type Parameters = OperationBody<typeof moveInstances>

/**
 * Moves instances to another host, and waits until that is over if the request asks for that. An
 * administrator names own instances as usual, and those of any user by UUID. To any other account it looks
 * as if there were no hosts.
 */
export function instancesMove(deps: ApiDeps): Handler<typeof moveInstances> {
  return async ({ objects }, call) => ({
    entries: await forEachInstance(
      deps,
      call,
      objects,
      async (row, parameters): Promise<Entry> => {
        const host = { kind: 'host', by: 'name', value: parameters.host }
        if (!call.identity.admin) return failedInstance(row, 'notFound', host)
        try {
          return await move(deps, call, { row, parameters })
        } catch (error) {
          if (!(error instanceof MoveRefused)) throw error
          return notMoved(row, parameters.host, error.message)
        }
      },
      (targets) => findAnyones(deps, call, targets),
    ),
  })
}

/** The instances of the account, and those of others that are named by UUID. */
async function findAnyones(
  { database }: Pick<ApiDeps, 'database'>,
  call: Call,
  targets: readonly Target[],
): Promise<readonly (InstanceRow | undefined)[]> {
  const own = await findInstances(database, call.identity, targets.map(identifierOf))
  if (!call.identity.admin) return own
  const uuids = targets.flatMap(({ by, value }, index) => (by === 'uuid' && !own[index] ? [value] : []))
  const others = new Map((await findByUuids(database, uuids)).map((row) => [row.uuid, row]))
  return targets.map(({ value }, index) => own[index] ?? others.get(value))
}

async function move(
  deps: ApiDeps,
  call: Call,
  { row, parameters }: { readonly row: InstanceRow; readonly parameters: Parameters },
): Promise<Entry> {
  const { host } = parameters
  const present = row.move?.step === undefined ? undefined : row.move
  if (present === undefined && row.nodeId === host) return entryOf(row)
  const isSame = present?.to.nodeId === host
  const plan = await planOf(deps, row, host)
  if (!plan.ok) return notMoved(row, host, plan.why)
  const { from, to, volume } = plan
  const request: MoveRequest = { from, to, ...(volume && { volume }), asker: call.asker }
  const { revision } = await deps.control.move(workflowSettings(row), request, randomUUID())
  if (!isSame) await writeAsked(deps.database, row, askedMove(call, request))
  const timeoutMs = waitMs(parameters.wait_timeout_ms ?? 0)
  const seen = await waitForInstance(deps, call, {
    row,
    timeoutMs,
    isReached: (now) => now.revision >= revision && (timeoutMs === 0 || now.move?.step === undefined),
  })
  if (seen.kind === 'gone') return missingEntry('instance', { by: 'uuid', value: row.uuid })
  if (timeoutMs === 0) return entryOf(seen.row)
  if (seen.kind === 'timed-out') return failedInstance(seen.row, 'timedOut')
  if (seen.row.nodeId === host) return entryOf(seen.row)
  return notMoved(seen.row, host, seen.row.move?.failure ?? 'another move came after this one')
}

/** Where it moves from and to. A move to its own host takes the wish for another one back. */
async function planOf({ database }: Pick<ApiDeps, 'database'>, row: InstanceRow, host: string) {
  const { move: present, nodeId } = row
  const isUnderWay = present?.step !== undefined
  // A move that is under way goes on, whatever its new host has said since.
  if (isUnderWay && present.to.nodeId === host) return { ok: true as const, ...present }
  if (isUnderWay && nodeId === host) return { ok: true as const, from: present.from, to: present.from }
  return await planMove(database, row, host)
}

function askedMove({ asker }: Call, { from, to }: MoveRequest) {
  const why = `a move from host ${from.nodeId} to host ${to.nodeId} was asked for`
  return { kind: UserEventKind.InstanceMove, why, asker }
}

function entryOf({ uuid, name, state, nodeId, move: moving }: InstanceRow): Entry {
  const is_moving = moving?.step !== undefined
  return { status: 'success', uuid, name, state, host: nodeId, is_moving }
}

function notMoved(row: InstanceRow, host: string, reason: string): FailedEntry {
  return failedInstance(row, 'notMoved', { name: row.name, host, reason })
}

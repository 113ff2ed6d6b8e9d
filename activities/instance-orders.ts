import { refusalWords } from '../src/db/autoscale/clone-insert.ts'
import type { Database } from '../src/db/database.ts'
import { writeAsked } from '../src/db/instance/asked-event.ts'
import { releaseLive, reserveLive } from '../src/db/instance/instances.ts'
import { markWorkflowStarted } from '../src/db/instance/records.ts'
import type { InstanceRow } from '../src/db/instance/row.ts'
import { workflowSettings } from '../src/db/instance/settings.ts'
import type { Asker } from '../src/domain/event/asker.ts'
import { UserEventKind } from '../src/domain/event/user-event-kind.ts'
import { InstanceGone } from '../src/domain/instance/instance-gone.ts'
import type { InstanceSettings } from '../src/domain/instance/settings.ts'

/**
 * The calls to workflows of instances that runs of schedules and rollouts need. `InstanceControl` in
 * `src/control` says what each call does.
 */
export interface InstanceOrders {
  ensureStarted(settings: InstanceSettings): Promise<void>
  /** Throws `InstanceGone` if the instance is being deleted. */
  start(settings: InstanceSettings, requestId: string, asker: Asker): Promise<unknown>
  /** Throws `InstanceGone` if the instance is being deleted. */
  stop(
    settings: InstanceSettings,
    request: { readonly force: boolean; readonly drainTimeoutMs: number; readonly asker: Asker },
    requestId: string,
  ): Promise<unknown>
  delete(settings: InstanceSettings): Promise<void>
}

interface OrderDeps {
  readonly database: Database
  readonly instances: InstanceOrders
}

export interface InstanceOrder {
  readonly kind: 'start' | 'stop'
  /** How long what is connected may take to end before a stop. */
  readonly drainMs: number
  /** A repeat with the same id asks for nothing twice. */
  readonly requestId: string
  readonly asker: Asker
  readonly why: string
}

export type OrderOutcome =
  | { readonly kind: 'asked' }
  /** The instance is being deleted. */
  | { readonly kind: 'gone' }
  /** A start is not possible. The words are for people. */
  | { readonly kind: 'refused'; readonly why: string }

/** Asks for the start or stop of an instance within its quotas, and writes the event. */
export async function orderInstance(
  { database, instances }: OrderDeps,
  row: InstanceRow,
  order: InstanceOrder,
): Promise<OrderOutcome> {
  const { kind, drainMs, requestId, asker, why } = order
  const settings = workflowSettings(row)
  if (kind === 'start') {
    const reserved = await reserveLive(database, row.userUuid, row.uuid)
    if (!reserved.ok) return { kind: 'refused', why: refusalWords(reserved.refusal) }
  }
  try {
    if (kind === 'start') await instances.start(settings, requestId, asker)
    else await instances.stop(settings, { force: false, drainTimeoutMs: drainMs, asker }, requestId)
  } catch (error) {
    if (kind === 'start') await releaseLive(database, row.uuid)
    if (error instanceof InstanceGone) return { kind: 'gone' }
    throw error
  }
  const asked = kind === 'start' ? UserEventKind.InstanceStart : UserEventKind.InstanceStop
  await writeAsked(database, row, { kind: asked, why, asker })
  return { kind: 'asked' }
}

/** Starts the workflow of a new instance. The sweep starts it if this is not reached. */
export async function beginLife(
  { database, instances }: OrderDeps,
  row: InstanceRow,
  asker: Asker,
): Promise<void> {
  await instances.ensureStarted({ ...workflowSettings(row), asker })
  await markWorkflowStarted(database, [row.uuid])
}

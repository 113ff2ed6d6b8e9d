import type { InstanceRow } from '../../src/db/instance/row.ts'
import { workflowSettings } from '../../src/db/instance/settings.ts'
import { rolloutAsker } from '../../src/db/rollout/events.ts'
import type { ReadRollout } from '../../src/db/rollout/facts.ts'
import { noteProgress, withAsked } from '../../src/db/rollout/moves.ts'
import type { Asker } from '../../src/domain/event/asker.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { Side } from '../../src/domain/rollout/decision.ts'
import { handOverDrainMs, retireDrainMs } from '../../src/domain/rollout/plan.ts'
import type { CheckProgress } from '../../src/domain/rollout/progress.ts'
import { beginLife, orderInstance } from '../instance-orders.ts'
import type { RolloutDeps } from './rollout-deps.ts'

// The moves of a rollout that concern hosts and workflows. Requests are numbered after the rollout and its
// phase, so a repeated attempt asks for nothing twice.

/** An instance that can not be started. */
export interface Hindered {
  readonly uuid: string
  readonly name: string
  readonly why: string
}

/** Starts or stops one side. Returns the first instance that can not be started, if there is one. */
export async function order(
  deps: RolloutDeps,
  of: ReadRollout,
  { kind, side }: { readonly kind: 'start' | 'stop'; readonly side: Side },
): Promise<Hindered | undefined> {
  const asker = askerOf(of)
  for (const row of of[side]) {
    const isStopped = row.state === InstanceState.Stopped
    if ((kind === 'start') !== isStopped) continue
    const requestId = `${of.rollout.uuid}/${of.rollout.phase}/${kind}/${row.uuid}`
    const drainMs = of.facts.isHeld ? handOverDrainMs : retireDrainMs
    const why = 'a rollout of its service asked for it'
    const asked = await orderInstance(deps, row, { kind, requestId, asker, drainMs, why })
    // What is being deleted is stopped by that, and is missed at the next look.
    if (asked.kind === 'refused') return { uuid: row.uuid, name: row.name, why: asked.why }
  }
  await noteProgress(deps.database, of.rollout, (before) => withAsked(before, `${kind}-${side}`))
  return undefined
}

/** Notes why an instance can not be started, as if a check had failed. */
export async function noteFailed(
  { database }: RolloutDeps,
  { rollout }: ReadRollout,
  { uuid, why }: Hindered,
): Promise<void> {
  await noteProgress(database, rollout, (before) => ({
    ...before,
    checks: { ...before.checks, [uuid]: { passed: 0, failed: `it can not be started: ${why}` } },
  }))
}

function askerOf({ serviceName }: ReadRollout): Asker {
  return rolloutAsker(serviceName)
}

/** Has hosts check these instances of a side, by UUID, and notes what they found. */
export async function check(
  deps: RolloutDeps,
  of: ReadRollout,
  { side, uuids }: { readonly side: Side; readonly uuids: readonly string[] },
): Promise<void> {
  const { port, path, status, timeoutMs } = of.rollout.plan.check
  const asked = {
    port,
    timeoutMs,
    ...(path !== undefined && { path }),
    ...(status !== undefined && { status }),
  }
  const results = await Promise.all(
    of[side]
      .filter(({ uuid }) => uuids.includes(uuid))
      .map(async (row) => [row.uuid, await checkOne(deps, row, asked)] as const),
  )
  const checkedAtMs = deps.nowMs()
  await noteProgress(deps.database, of.rollout, (before) => ({
    ...before,
    checks: {
      ...before.checks,
      ...Object.fromEntries(
        results.map(([uuid, failed]) => [uuid, counted(before.checks?.[uuid], { failed, checkedAtMs })]),
      ),
    },
  }))
}

function counted(
  before: CheckProgress | undefined,
  { failed, checkedAtMs }: { readonly failed: string | undefined; readonly checkedAtMs: number },
): CheckProgress {
  if (failed !== undefined) return { passed: 0, failed, checkedAtMs }
  return { passed: (before?.passed ?? 0) + 1, checkedAtMs }
}

/** Why the check failed; undefined if it did not. */
async function checkOne(
  { hosts }: RolloutDeps,
  row: InstanceRow,
  asked: Parameters<RolloutDeps['hosts']['checkInstance']>[1],
): Promise<string | undefined> {
  try {
    const result = await hosts.checkInstance(row, asked)
    return result.ok ? undefined : result.why
  } catch {
    return `its host ${row.nodeId} does not answer`
  }
}

/**
 * Tells the workflows of instances that a move wrote: of new ones to begin, of others to end. The sweep tells
 * those that are not reached.
 */
export async function tell(
  deps: RolloutDeps,
  of: ReadRollout,
  { rows, what }: { readonly rows: readonly InstanceRow[]; readonly what: 'begin' | 'retire' | 'delete' },
): Promise<void> {
  const { instances } = deps
  for (const row of rows) {
    const settings = workflowSettings(row)
    if (what === 'begin') await beginLife(deps, row, askerOf(of))
    else if (what === 'delete') await instances.delete(settings)
    else await instances.retire(settings, retireDrainMs, `${of.rollout.uuid}/retire`, askerOf(of))
  }
}

import { ApplicationFailure, log } from '@temporalio/activity'
import { alignClones } from '../../src/db/autoscale/clones.ts'
import type { AlignDeps } from '../../src/db/autoscale/clones.ts'
import { closeClones, removeAutoscaleRow } from '../../src/db/autoscale/closing.ts'
import type { RetiredClone } from '../../src/db/autoscale/records.ts'
import { refusalWords } from '../../src/db/autoscale/clone-insert.ts'
import { releaseLive, reserveLive } from '../../src/db/instance/instances.ts'
import { markWorkflowStarted } from '../../src/db/instance/records.ts'
import { InstanceGone } from '../../src/domain/instance/instance-gone.ts'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import { runStep } from '../control-step.ts'
import type { AutoscaleActivities } from './activities.ts'
import { Semaphore } from '../../src/primitives/semaphore.ts'

export interface AlignmentDeps extends AlignDeps {
  readonly instances: InstanceOrders
}

/**
 * The calls to workflows of instances that an alignment needs. `InstanceControl` in `src/control` says what
 * each call does.
 */
export interface InstanceOrders {
  ensureStarted(settings: InstanceSettings): Promise<void>
  /** Throws `InstanceGone` if the instance is being deleted. */
  start(settings: InstanceSettings, requestId: string): Promise<unknown>
  retire(settings: InstanceSettings, drainMs: number, requestId: string): Promise<void>
}

/**
 * How many services change at a time, although a worker may watch thousands. More would keep the database
 * busy while the workflows of instances have to write their states.
 */
export const servicesAtOnce = 4
/** How many calls to workflows one service has under way at a time. */
const callsAtOnce = 8

/**
 * The activities that change the instances of a service. They write the rows first and then tell the
 * workflows of the instances. The sweep tells a workflow that could not be told. Inputs, answers and
 * failures hold no secrets.
 */
export function createAlignmentActivities(
  deps: AlignmentDeps,
): Pick<AutoscaleActivities, 'alignService' | 'closeAutoscale'> {
  const services = new Semaphore(servicesAtOnce)
  const inOrder = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    runStep(what, (signal) => services.run(work, signal))
  return {
    alignService: (input) =>
      inOrder('align', async () => {
        const aligned = await alignClones(deps, input)
        if (aligned.closing === true) return { size: 0, target: 0, added: [], givenBack: [], closing: true }
        const { after, target, added, retired, refusal } = aligned
        await Promise.all([begin(deps, added), giveBack(deps, retired)])
        return {
          size: after,
          target,
          added: added.map(({ name }) => name),
          givenBack: retired.map(({ settings }) => settings.name),
          ...(refusal !== undefined && { refusal }),
        }
      }),
    async closeAutoscale({ serviceUuid }) {
      const closed = await inOrder('close', async () => {
        const closing = await closeClones(deps.database, serviceUuid)
        if (closing.kind !== 'closing') return closing.kind === 'over'
        await giveBack(deps, closing.retired)
        // The master is started before the row is removed: without the row, nobody would repeat a start that
        // failed.
        const refusal = closing.start && (await startMaster(deps, closing.start))
        // Clones that are not gone yet may hold the quota or memory that the master needs. So the closing
        // waits.
        if (refusal !== undefined && closing.retired.length > 0) return refusal
        return removeAutoscaleRow(deps.database, serviceUuid)
      })
      if (typeof closed === 'string') throw masterWaits(closed)
      return { closed }
    },
  }
}

async function begin(deps: AlignmentDeps, added: readonly InstanceSettings[]): Promise<void> {
  const begun = await eachOf(added, {
    call: (settings) => deps.instances.ensureStarted(settings),
    warning: 'the sweep will start the workflow of a clone',
  })
  await markWorkflowStarted(
    deps.database,
    begun.map(({ instanceUuid }) => instanceUuid),
  )
}

/**
 * Tells the workflows of clones to retire. Each clone has one request id, so its workflow acts once, however
 * often it is told.
 */
async function giveBack(deps: AlignmentDeps, retired: readonly RetiredClone[]): Promise<void> {
  await eachOf(retired, {
    call: ({ settings, drainMs }) =>
      deps.instances.retire(settings, drainMs, `retire/${settings.instanceUuid}`),
    warning: 'the sweep will retire a clone',
  })
}

/**
 * Starts the master like a start by its user: within the account's quotas and the memory of its host.
 * Returns the reason if these do not allow the start.
 */
async function startMaster(
  deps: AlignmentDeps,
  { master, requestId }: { readonly master: InstanceSettings; readonly requestId: string },
): Promise<string | undefined> {
  const { userUuid, instanceUuid } = master
  const reserved = await reserveLive(deps.database, userUuid, instanceUuid)
  if (!reserved.ok) {
    if (reserved.refusal.kind !== 'quota' && reserved.refusal.kind !== 'no-memory') return undefined
    const reason = refusalWords(reserved.refusal)
    log.warn('a master stays stopped', { instanceUuid, reason })
    return reason
  }
  try {
    await deps.instances.start(master, requestId)
  } catch (error) {
    await releaseLive(deps.database, instanceUuid)
    if (!(error instanceof InstanceGone)) throw error
  }
  return undefined
}

/**
 * The failure that makes Temporal repeat the closing until the clones are gone. By then there is room for
 * the master, or waiting would not help.
 */
function masterWaits(refusal: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'MasterWaits',
    message: `the master is not started before its clones are gone: ${refusal}`,
  })
}

/** Makes the call for each entry, logs failures, and returns the entries for which the call succeeded. */
async function eachOf<T>(
  all: readonly T[],
  { call, warning }: { readonly call: (one: T) => Promise<void>; readonly warning: string },
): Promise<readonly T[]> {
  const told: T[] = []
  const rest = [...all]
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
      try {
        await call(one)
        told.push(one)
      } catch (error) {
        log.warn(warning, { err: error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, all.length) }, lane))
  return told
}

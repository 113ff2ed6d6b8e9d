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
 * What aligning asks of the workflows of instances; `InstanceControl` in `src/control` says what each call
 * does.
 */
export interface InstanceOrders {
  ensureStarted(settings: InstanceSettings): Promise<void>
  /** Throws `InstanceGone` where the instance is being deleted. */
  start(settings: InstanceSettings, requestId: string): Promise<unknown>
  retire(settings: InstanceSettings, drainMs: number, requestId: string): Promise<void>
}

/**
 * Services at a time, of the thousands that a worker may watch: more would take the database from the states
 * of instances.
 */
export const servicesAtOnce = 4
/** Calls to workflows at a time, of one service. */
const callsAtOnce = 8

/**
 * What changes the instances of a service. The rows are written first, and then the workflows of the
 * instances are told; one that could not be told hears it from the sweep. Inputs, answers and failures hold
 * no secret.
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
        // Nobody repeats this once the row is gone, so it is not left to the sweep.
        const refusal = closing.start && (await startMaster(deps, closing.start))
        // What keeps it stopped may be what its clones still have.
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

/** Under one id per clone, so that its workflow acts on it once, however often it hears it from here. */
async function giveBack(deps: AlignmentDeps, retired: readonly RetiredClone[]): Promise<void> {
  await eachOf(retired, {
    call: ({ settings, drainMs }) =>
      deps.instances.retire(settings, drainMs, `retire/${settings.instanceUuid}`),
    warning: 'the sweep will retire a clone',
  })
}

/**
 * As by hand: within the account's quotas and the memory of its host. Answers why these do not allow it,
 * where they do not.
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
 * To be tried again until the clones are gone: then the quotas have room for it, or never will by themselves.
 */
function masterWaits(refusal: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'MasterWaits',
    message: `the master is not started before its clones are gone: ${refusal}`,
  })
}

/** Answers those that were told. */
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

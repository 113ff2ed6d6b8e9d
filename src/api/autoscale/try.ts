import { setImmediate as nextTurn } from 'node:timers/promises'
import { tryAutoscale as operation } from '../../contract/autoscale/operations.ts'
import { problem, RequestError } from '../../contract/errors.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import { findAutoscale } from '../../db/autoscale/configurations.ts'
import { oldestOfService } from '../../db/service/members.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { defaultAutoscale } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import {
  maxTrialInstanceSeconds,
  recordedMs,
  trialTimes,
  tryAutoscale,
} from '../../domain/autoscale/trial.ts'
import type { Trial, TrialResult, TrialTime } from '../../domain/autoscale/trial.ts'
import { usageSteps } from '../../domain/instance/usage-history.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedService, forEachService } from '../service/objects.ts'
import { readServiceHistory } from '../service/usage-history.ts'
import { timestamp } from '../timestamp.ts'
import { readWishes } from './new-autoscale.ts'
import { trialText } from './trial-text.ts'

type Entry = OperationEntry<typeof operation>

/** How long a trial may hold up other requests of this process at a time. */
const sliceMs = 10
/** The time until an instance serves, where none has started yet. */
const defaultBootMs = 1_500

/** What configurations would have done with the recorded load of services. Nothing of them changes. */
export function autoscaleTry(deps: ApiDeps): Handler<typeof operation> {
  // One trial at a time: several would only take the processor from each other.
  const turns = new FairSemaphore({ size: 1, perUser: 1 })
  return async ({ objects }, call) => {
    const wishes = objects.map(({ parameters: { last: _last, ...body } }) =>
      readWishes(body, operation.place),
    )
    const problems = wishes.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const entries = await forEachService(deps, call, objects, async (row, { last = '1h' }, index) => {
      const wished = wishes[index]
      if (!wished?.ok) throw new Error('what is invalid was refused above')
      const failed = (...wrong: Parameters<typeof problem>) => failedService(row, problem(...wrong))
      const configuration = await configurationOf(deps, call, row, wished.value)
      if (configuration.policies.length === 0) return failed('nothingToTry', { service: row.name })
      const { lengthMs } = trialTimes[last]
      const { maxSize } = configuration
      const max = Math.floor((maxTrialInstanceSeconds * 1_000) / lengthMs)
      if (maxSize > max) return failed('trialTooLarge', { seconds: lengthMs / 1_000, size: maxSize, max })
      try {
        const trial = await trialOf(deps, { row, configuration, last })
        if (recordedMs(trial) === 0) return failed('nothingRecorded', { service: row.name })
        const { userUuid } = call.identity
        const result = await turns.run(userUuid, deps.stopping, async () => await playedOut(trial))
        return present(row, { trial, result, last })
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, service: row.uuid }, 'a host does not answer')
        return failed('hostUnreachable')
      }
    })
    return { entries }
  }
}

/** What was asked for, and for the rest the present configuration, or the default without one. */
async function configurationOf(
  deps: ApiDeps,
  call: Call,
  { uuid }: ServiceRow,
  wished: Partial<AutoscaleConfiguration>,
): Promise<AutoscaleConfiguration> {
  const present = (await findAutoscale(deps.database, call.identity.userUuid, [uuid])).get(uuid)
  const { minSize, maxSize, warmupMs, cooldownMs, policies } = {
    policies: [],
    ...defaultAutoscale,
    ...present,
  }
  const all = { minSize, maxSize, warmupMs, cooldownMs, policies, ...wished }
  // Whoever gives one size does not want to hear that it crosses one that was not given.
  if (wished.minSize === undefined) return { ...all, minSize: Math.min(all.minSize, all.maxSize) }
  return wished.maxSize === undefined ? { ...all, maxSize: Math.max(all.minSize, all.maxSize) } : all
}

async function trialOf(
  deps: ApiDeps,
  wanted: {
    readonly row: ServiceRow
    readonly configuration: AutoscaleConfiguration
    readonly last: TrialTime
  },
): Promise<Trial> {
  const { row, configuration, last } = wanted
  const { lengthMs, step } = trialTimes[last]
  const { lengthMs: stepMs } = usageSteps[step]
  const [recorded, typical] = await Promise.all([
    readServiceHistory(deps, row.uuid, step),
    oldestOfService(deps.database, row.uuid),
  ])
  const nowMs = deps.nowMs()
  // The newest step still grows.
  const steps = recorded.filter(({ atMs }) => atMs > nowMs - lengthMs && atMs + stepMs <= nowMs)
  const { vcpus = 1, bootTimeUs = null } = typical ?? {}
  const bootMs = bootTimeUs === null ? defaultBootMs : Math.ceil(bootTimeUs / 1_000)
  return { steps, stepMs, configuration, vcpus, bootMs }
}

/** Plays a trial to its end, and lets other requests have their turn again and again. */
async function playedOut(trial: Trial): Promise<TrialResult> {
  const steps = tryAutoscale(trial)
  let sinceMs = performance.now()
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return next.value
    if (performance.now() - sinceMs < sliceMs) continue
    await nextTurn()
    sinceMs = performance.now()
  }
}

function present(
  { uuid, name }: ServiceRow,
  tried: { readonly trial: Trial; readonly result: TrialResult; readonly last: TrialTime },
): Entry {
  const { trial, result, last } = tried
  const { report, steps, decisions } = result
  return {
    status: 'success',
    uuid,
    name,
    last,
    step_ms: trial.stepMs,
    text: trialText(trial, result),
    instance_seconds: report.instanceSeconds,
    ran_instance_seconds: result.ranInstanceSeconds,
    smallest_size: report.smallestSize,
    largest_size: report.largestSize,
    resizes: report.resizes,
    short_seconds: report.missingInstanceSeconds,
    spare_seconds: report.spareInstanceSeconds,
    saturated_seconds: result.saturatedMs / 1_000,
    steps: steps.map(({ atMs, demand, metrics, size, ran }) => ({
      at: timestamp(new Date(atMs)),
      load: { ...demand },
      ...(metrics === undefined ? {} : { metrics: { ...metrics } }),
      size,
      ran,
    })),
    decisions: decisions.map(({ atMs, what }) => ({ at: timestamp(new Date(atMs)), what })),
  }
}

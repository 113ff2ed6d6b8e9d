import { setTimeout as delay } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import { pino } from 'pino'
import { createAlignmentActivities } from '../../../activities/autoscale/alignment.ts'
import type { WatchInput, WatchResult } from '../../../activities/autoscale/activities.ts'
import { createControlActivities } from '../../../activities/control-activities.ts'
import { systemTimers } from '../../../activities/autoscale/service-observer.ts'
import { callInWatches } from '../../../activities/autoscale/watch-calls.ts'
import { ControlWorker } from '../../../src/bin/worker-temporal.ts'
import type { ControlWorkerOptions } from '../../../src/bin/worker-temporal.ts'
import type { InstanceControl } from '../../../src/control/instance-control.ts'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import { listAutoscaledServices, readAutoscaleMembers } from '../../../src/db/autoscale/records.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { createSecretBox, parseSecretKey } from '../../../src/db/secret-box.ts'
import { resizeTo } from '../../support/autoscale-outcomes.ts'
import { createMortalCalls, workAloud } from '../mortal-calls.ts'
import { mortalDatabase } from '../mortal-database.ts'

/**
 * Options of the control worker that ends itself with -9 at one named point: `node autoscale/crash-part.ts
 * <options as JSON>`. The worker's watch wants one size, whatever the load; everything else in it is real. It
 * writes `ready` once it takes work.
 */
export interface AutoscaleCrashOptions {
  readonly place: { readonly address: string; readonly namespace: string }
  readonly databaseUrl: string
  readonly bundle: string
  readonly secretKey: string
  readonly wanted: number
  /**
   * The point of death: `<activity, transaction, call of a workflow or write> <nth>, before` or `, after`.
   * Only work of aligning and closing counts.
   */
  readonly point?: string
}

const lookEveryMs = 100
const options = JSON.parse(process.argv[2] ?? '') as AutoscaleCrashOptions
const calls = createMortalCalls(options.point)
const { mortal } = calls

const { databaseUrl: url, place } = options
const database = await openDatabase({ url, applicationName: 'crash test worker', poolSize: 4 })
const control = openTemporalControl(place)
const { ensureStarted, retire, start } = control.instances
const instances: Pick<InstanceControl, 'ensureStarted' | 'retire' | 'start'> = mortal({
  ensureStarted,
  retire,
  start,
})

async function watchService({ serviceUuid, target, blockedUntilMs = 0 }: WatchInput): Promise<WatchResult> {
  const context = Context.current()
  for (;;) {
    context.heartbeat()
    const [service] = await readAutoscaleMembers(database, [serviceUuid])
    if (service === undefined) return { kind: 'closing' }
    if (target !== options.wanted && Date.now() >= blockedUntilMs) return resizeTo(options.wanted)
    await Promise.race([delay(lookEveryMs), context.cancelled])
  }
}

/**
 * Ends the watches that a worker left behind when it died, so that this worker takes them over at once: in
 * this test no worker runs beside another. The real worker waits until the other one was silent for 6 s.
 */
function callIn(id: string): () => Promise<void> {
  void callInWatches({
    listServices: () => listAutoscaledServices(database),
    listWorkers: async () => await Promise.resolve(new Set([id])),
    callIn: (serviceUuid, living) => control.autoscales.callInWatch(serviceUuid, living),
    timers: systemTimers,
    signal: new AbortController().signal,
  })
  return async () => await Promise.resolve()
}

const worker = new ControlWorker({
  place,
  activities: createControlActivities({ database }) as ControlWorkerOptions['activities'],
  autoscale: {
    activities: {
      watchService,
      ...mortal(
        createAlignmentActivities({
          database: mortalDatabase(database, calls),
          secretBox: createSecretBox(parseSecretKey(options.secretKey)),
          instances,
          nowMs: Date.now,
        }),
      ),
    },
    begin: callIn,
    end: () => undefined,
  },
  workflowBundle: options.bundle,
  log: pino({ level: 'silent' }),
  sdkMetricsAddress: '127.0.0.1:0',
})
await workAloud(worker)

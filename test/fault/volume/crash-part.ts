import childProcess from 'node:child_process'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { pino } from 'pino'
import type {
  HostActivities,
  MoveActivities,
  VolumeActivities,
} from '../../../src/domain/instance/host-work.ts'
import type { ControlWorkerOptions } from '../../../src/bin/worker-temporal.ts'
import type { AgentPorts } from '../../../src/host/agent/agent-ports.ts'
import { createMortalCalls, workAloud } from '../mortal-calls.ts'

/**
 * Options of a process that ends itself with -9 at one named point: `node volume/crash-part.ts
 * <CrashPartOptions as JSON>`. The process is the control worker, or the part of an agent that has to do with
 * volumes. It writes `ready` once it takes work.
 */
export interface CrashPartOptions {
  readonly place: { readonly address: string; readonly namespace: string }
  readonly role:
    | { readonly kind: 'worker'; readonly databaseUrl: string; readonly bundle: string }
    | { readonly kind: 'agent'; readonly nodeId: string; readonly directory: string }
  /**
   * The point of death: `<activity> <nth>, before` or `, after`, or `<activity>: <call of the kernel>`, which
   * is the first call of that name.
   */
  readonly point?: string
}

const options = JSON.parse(process.argv[2] ?? '') as CrashPartOptions
const { place, role } = options
const { at, mortal } = createMortalCalls(options.point)
const log = pino({ level: 'silent' })
/** The activity that runs. Only calls of the kernel that are made during it count. */
let current: string | undefined

/**
 * The same activities, with points of death before and after each of them, and at the calls of the kernel
 * that they make.
 */
function activitiesOf<T extends { readonly [K in keyof T]: (input: never) => Promise<unknown> }>(
  activities: T,
): T {
  const noted = Object.entries<(input: never) => Promise<unknown>>(activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      current = name
      const result = await activity(input)
      current = undefined
      return result
    },
  ])
  return mortal(Object.fromEntries(noted) as T)
}

type AnyFunction = (...args: unknown[]) => unknown

function before(of: object, name: string): void {
  const methods = of as Record<string, AnyFunction>
  const original = methods[name]
  methods[name] = function (this: unknown, ...args: unknown[]) {
    if (current !== undefined) at(`${current}: ${name}`)
    return original?.apply(this, args)
  }
}

async function watchKernelCalls(): Promise<void> {
  const probe = await fs.open('/dev/null', 'r')
  const fileHandle = Object.getPrototypeOf(probe) as object
  await probe.close()
  for (const name of ['sync', 'truncate', 'write']) before(fileHandle, name)
  for (const name of ['mkdir', 'rename', 'rm']) before(fs, name)
  const { spawn } = childProcess
  childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
    const child = spawn(...args)
    // The tool that was started already works, and may go on after the death of its agent.
    if (current !== undefined) at(`${current}: spawn`)
    return child
  }) as typeof spawn
  syncBuiltinESMExports()
}

type Working = Parameters<typeof workAloud>[0]

async function startWorker(databaseUrl: string, bundle: string): Promise<Working> {
  const { ControlWorker } = await import('../../../src/bin/worker-temporal.ts')
  const { createControlActivities } = await import('../../../activities/control-activities.ts')
  const { openDatabase } = await import('../../../src/db/database.ts')
  const database = await openDatabase({ url: databaseUrl, applicationName: 'crash test worker', poolSize: 2 })
  const worker = new ControlWorker({
    place,
    activities: activitiesOf(createControlActivities({ database })) as ControlWorkerOptions['activities'],
    workflowBundle: bundle,
    log,
    sdkMetricsAddress: '127.0.0.1:0',
  })
  return worker
}

async function startAgent(nodeId: string, directory: string): Promise<Working> {
  await watchKernelCalls()
  const { NodeWorker, reportedEvents } = await import('../../../src/bin/agent-temporal.ts')
  const { createVolumeActivities } = await import('../../../activities/host-activities.ts')
  const { HostVolumes } = await import('../../../src/host/volumes/host-volumes.ts')
  const { FileVolumes } = await import('../../../src/host/volumes/file-volumes.ts')
  const volumes = await FileVolumes.open({ directory, reserveMb: 0 })
  const { createHostReports } = await import('../../../src/control/host-reports.ts')
  const reports = createHostReports(place)
  const { volumeEvents } = reportedEvents(async (report) => await reports.tell(report))
  const held = new HostVolumes({ volumes, volumeEvents, log } as unknown as AgentPorts)
  await held.open()
  const activities = activitiesOf<VolumeActivities>(createVolumeActivities({ volumes: held }))
  const worker = new NodeWorker({
    place,
    nodeId,
    activities: activities as HostActivities & MoveActivities & VolumeActivities,
    log,
  })
  return worker
}

const worker =
  role.kind === 'worker'
    ? await startWorker(role.databaseUrl, role.bundle)
    : await startAgent(role.nodeId, role.directory)
await workAloud(worker)

import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ControlActivities } from '../../../activities/control-activities.ts'
import { createInstanceControl } from '../../../src/control/temporal-instance-control.ts'
import type { InstanceControl } from '../../../src/control/instance-control.ts'
import type { HostEvent } from '../../../src/domain/instance/host-work.ts'
import type { InstanceProjection } from '../../../src/domain/instance/projection.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { hostEventSignal, instanceWorkflowId } from '../../../workflows/instance/messages.ts'
import type { InstanceSettings } from '../../../src/domain/instance/settings.ts'
import { FakeHost } from '../../support/fake-host.ts'
import type { FakeHostOptions } from '../../support/fake-host.ts'
import { instanceSettings } from '../../support/instance-settings.ts'
import { runWorkers } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'

/** One instance on a fake host, with its row in memory. */
export interface World {
  readonly settings: InstanceSettings
  readonly control: InstanceControl
  readonly host: FakeHost
  readonly row: FakeRow
  /** Resolves when a recorded state fits. */
  reaches(fits: (projection: InstanceProjection) => boolean): Promise<InstanceProjection>
  reachesState(state: InstanceState): Promise<InstanceProjection>
  /** Resolves when the instance's row is deleted. */
  readonly gone: Promise<void>
  readonly id: string
  /** The host's word, as its agent sends it. */
  tells(...events: readonly HostEvent[]): Promise<void>
  /** Nothing has happened since now. */
  tellsIdle(boot: number, epoch?: number): Promise<void>
  /** Traffic wakes it, and its host tells of that. */
  wakes(): Promise<void>
  hostComesBack(): Promise<void>
  /** Everything that runs the workflow and its host's work ends and is begun again. */
  restartWorkers(): Promise<void>
  /** Deletes the instance: a workflow that is left under way would hold the time of the next test. */
  end(): Promise<void>
}

/** What PostgreSQL would hold: a write with an older revision changes nothing. */
export interface FakeRow {
  revision: number
  projection: InstanceProjection | undefined
  hidden: boolean
  readonly written: InstanceProjection[]
}

export interface WorldOptions extends Partial<Omit<FakeHostOptions, 'nowMs'>> {
  readonly settings?: Partial<InstanceSettings>
  /** Without it nobody polls the host's queue. */
  readonly hostAway?: boolean
  /** Fails the nth write, counted from 1. */
  readonly writeFails?: (nth: number) => boolean
}

export async function createWorld(env: TestWorkflowEnvironment, options: WorldOptions = {}): Promise<World> {
  const settings = instanceSettings(options.settings)
  const row: FakeRow = { revision: 0, projection: undefined, hidden: false, written: [] }
  const watchers = new Set<() => void>()
  const deleted = Promise.withResolvers<void>()
  let writes = 0
  const control: Pick<ControlActivities, 'recordInstance' | 'hideInstance' | 'deleteInstanceRow'> = {
    async recordInstance({ revision, projection }) {
      writes += 1
      if (options.writeFails?.(writes) === true) throw new Error('the database is away')
      if (revision <= row.revision) return
      row.revision = revision
      row.projection = projection
      row.written.push(projection)
      for (const watch of watchers) watch()
    },
    async hideInstance() {
      row.hidden = true
    },
    async deleteInstanceRow() {
      deleted.resolve()
    },
  }
  const host = new FakeHost({ ...options, nowMs: () => env.currentTimeMs() })
  const hosts = options.hostAway === true ? {} : { [settings.nodeId]: host.activities }
  const workers: RunningWorkers[] = [await runWorkers(env, { control, hosts })]
  const instanceControl = createInstanceControl(env.client)
  const reaches = (fits: (projection: InstanceProjection) => boolean): Promise<InstanceProjection> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (row.projection === undefined || !fits(row.projection)) return
        watchers.delete(look)
        resolve(row.projection)
      }
      watchers.add(look)
      look()
    })
  const tells = async (...events: readonly HostEvent[]): Promise<void> => {
    const handle = env.client.workflow.getHandle(instanceWorkflowId(settings.instanceUuid))
    for (const event of events) await handle.signal(hostEventSignal, event)
  }
  return {
    settings,
    control: instanceControl,
    host,
    row,
    reaches,
    reachesState: (state) => reaches((projection) => projection.state === state),
    gone: deleted.promise,
    id: instanceWorkflowId(settings.instanceUuid),
    tells,
    async tellsIdle(boot, epoch = boot) {
      await tells({ kind: 'idle', boot, epoch, sinceMs: await env.currentTimeMs() })
    },
    async wakes() {
      const started = await host.wake()
      await tells(
        { kind: 'waking', boot: started.boot, atMs: started.startedAtMs },
        { kind: 'started', started },
      )
    },
    async hostComesBack() {
      workers.push(await runWorkers(env, { hosts: { [settings.nodeId]: host.activities } }))
    },
    async restartWorkers() {
      for (const one of workers.splice(0)) await one.stop()
      workers.push(await runWorkers(env, { control, hosts: { [settings.nodeId]: host.activities } }))
    },
    async end() {
      await instanceControl.delete(settings)
      await env.client.workflow.getHandle(instanceWorkflowId(settings.instanceUuid)).result()
      for (const one of workers) await one.stop()
    },
  }
}

/** With autostart and running, or in whatever it is without it. */
export async function beginWorld(env: TestWorkflowEnvironment, options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(env, options)
  await world.control.ensureStarted(world.settings)
  if (world.settings.autostart) await world.reachesState(InstanceState.Running)
  return world
}

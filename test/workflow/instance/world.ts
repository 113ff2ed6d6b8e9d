import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ControlActivities } from '../../../activities/control-activities.ts'
import { createInstanceControl } from '../../../src/control/temporal-instance-control.ts'
import type { InstanceControl } from '../../../src/control/instance-control.ts'
import type { HostEvent } from '../../../src/domain/instance/host-work.ts'
import type { Lifecycle } from '../../../src/domain/instance/lifecycle-state.ts'
import type { InstanceProjection } from '../../../src/domain/instance/projection.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { hostEventSignal, instanceWorkflowId, lifecycleQuery } from '../../../workflows/instance/messages.ts'
import type { InstanceSettings } from '../../../src/domain/instance/settings.ts'
import { FakeHost } from '../../support/fake-host.ts'
import type { FakeHostOptions } from '../../support/fake-host.ts'
import { instanceSettings } from '../../support/instance-settings.ts'
import { createEntityWorld, FakeRow } from '../entity-world.ts'
import type { EntityWorld } from '../entity-world.ts'

/** One instance on a fake host, with its row in memory. */
export interface World extends Omit<EntityWorld, 'life' | 'addWorkers' | 'close'> {
  readonly settings: InstanceSettings
  readonly control: InstanceControl
  readonly host: FakeHost
  /** A host beside it, on which the instance can be placed anew. */
  readonly otherHost: FakeHost & { readonly nodeId: string }
  readonly row: FakeRow<InstanceProjection>
  /** Resolves with the row's record as soon as the record fits. */
  reaches(fits: (projection: InstanceProjection) => boolean): Promise<InstanceProjection>
  reachesState(state: InstanceState): Promise<InstanceProjection>
  /** Resolves when the instance's row is deleted. */
  readonly gone: Promise<void>
  /** The volume whose row was to name the new host with that of the instance. */
  readonly movedVolume: string | undefined
  life(): Promise<Lifecycle>
  /** Sends events of the host, as its agent sends them. */
  tells(...events: readonly HostEvent[]): Promise<void>
  /** Sends an idle event: nothing has needed the instance since now. */
  tellsIdle(boot: number, epoch?: number): Promise<void>
  /** Wakes the instance at its host, as traffic does, and sends the events that the host tells of a wake. */
  wakes(): Promise<void>
  hostComesBack(): Promise<void>
  /**
   * Deletes the instance. A workflow that still runs would hold back the server's clock for the next test.
   */
  end(): Promise<void>
}

export interface WorldOptions extends Partial<Omit<FakeHostOptions, 'nowMs'>> {
  readonly settings?: Partial<InstanceSettings>
  /** If true, the host takes no work until `hostComesBack` is called. */
  readonly hostAway?: boolean
  /** Where the instance is placed anew at the nth try, counted from 1. Absent: on the other host. */
  readonly places?: (nth: number) => { readonly nodeId?: string; readonly lack?: string } | undefined
  /** What the other host does. */
  readonly other?: Partial<Omit<FakeHostOptions, 'nowMs'>>
  /** Whether the other host takes no work. */
  readonly otherAway?: boolean
  /** Why the row does not name the new host of a move. It may answer late. Absent: it does. */
  readonly rowMoves?: () => Promise<string | undefined>
  /** Fails the nth write, counted from 1. */
  readonly writeFails?: (nth: number) => boolean
}

export async function createWorld(env: TestWorkflowEnvironment, options: WorldOptions = {}): Promise<World> {
  const settings = instanceSettings(options.settings)
  const row = new FakeRow<InstanceProjection>(options.writeFails)
  const otherHost = Object.assign(new FakeHost({ ...options.other, nowMs: () => env.currentTimeMs() }), {
    nodeId: `${settings.nodeId}-other`,
  })
  otherHost.setUpAnew()
  let tries = 0
  let moved: string | undefined
  const control: Pick<
    ControlActivities,
    'recordInstance' | 'hideInstance' | 'deleteInstanceRow' | 'placeAnew' | 'moveRow'
  > = {
    async placeAnew() {
      tries += 1
      return options.places?.(tries) ?? { nodeId: otherHost.nodeId }
    },
    async moveRow({ volumeUuid }) {
      const failure = await options.rowMoves?.()
      moved = volumeUuid
      return failure === undefined ? {} : { failure }
    },
    recordInstance: async ({ revision, projection }) => void row.write(revision, projection),
    async hideInstance() {
      row.isHidden = true
    },
    deleteInstanceRow: async () => row.delete(),
  }
  const host = new FakeHost({ ...options, nowMs: () => env.currentTimeMs() })
  const other = options.otherAway === true ? {} : { [otherHost.nodeId]: otherHost.activities }
  const hosts = { [settings.nodeId]: host.activities }
  const id = instanceWorkflowId(settings.instanceUuid)
  const world = await createEntityWorld(env, {
    id,
    work: { control, hosts: { ...hosts, ...other } },
    ...(options.hostAway === true && { begun: { control, hosts: other } }),
  })
  const instanceControl = createInstanceControl(env.client)
  const tells = async (...events: readonly HostEvent[]): Promise<void> => {
    const handle = env.client.workflow.getHandle(id)
    for (const event of events) await handle.signal(hostEventSignal, event)
  }
  return {
    ...world,
    settings,
    control: instanceControl,
    host,
    otherHost,
    row,
    reaches: (fits) => row.reaches(fits),
    reachesState: (state) => row.reaches((projection) => projection.state === state),
    gone: row.gone,
    get movedVolume() {
      return moved
    },
    life: () => world.life(lifecycleQuery),
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
    hostComesBack: () => world.addWorkers({ hosts }),
    async end() {
      await instanceControl.delete(settings)
      await world.close()
    },
  }
}

/** Makes a world and starts its workflow. With autostart, waits until the instance runs. */
export async function beginWorld(env: TestWorkflowEnvironment, options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(env, options)
  await world.control.ensureStarted(world.settings)
  if (world.settings.autostart) await world.reachesState(InstanceState.Running)
  return world
}

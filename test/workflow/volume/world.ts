import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ControlActivities } from '../../../activities/control-activities.ts'
import { createVolumeControl } from '../../../src/control/temporal-volume-control.ts'
import type { VolumeControl } from '../../../src/control/volume-control.ts'
import type { VolumeRecord } from '../../../src/db/volume/records.ts'
import type { VolumeEvent } from '../../../src/domain/instance/host-work.ts'
import type { VolumePhase } from '../../../src/domain/volume/state.ts'
import type { VolumeLife } from '../../../src/domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../../src/domain/volume/settings.ts'
import {
  volumeEventSignal,
  volumeLifeQuery,
  volumeMovedSignal,
  volumeWorkflowId,
} from '../../../workflows/volume/messages.ts'
import { FakeVolumeHost } from '../../support/fake-volume-host.ts'
import type { FakeVolumeHostOptions } from '../../support/fake-volume-host.ts'
import { createEntityWorld, FakeRow } from '../entity-world.ts'
import type { EntityWorld } from '../entity-world.ts'

/** One volume on a fake host, with its row in memory. */
export interface VolumeWorld extends Omit<EntityWorld, 'life' | 'addWorkers' | 'close'> {
  readonly settings: VolumeSettings
  readonly control: VolumeControl
  readonly host: FakeVolumeHost
  /** A host to which the volume can move. */
  readonly otherHost: FakeVolumeHost & { readonly nodeId: string }
  readonly row: FakeRow<VolumeRecord>
  /** Resolves with the row's record as soon as the record fits. */
  reaches(fits: (record: VolumeRecord) => boolean): Promise<VolumeRecord>
  reachesPhase(phase: VolumePhase): Promise<VolumeRecord>
  /** Resolves when the row is deleted. */
  readonly gone: Promise<void>
  /** Sends an event of the host, as its agent sends it. */
  tells(event: VolumeEvent): Promise<void>
  /** Tells that it moved to the other host, as the workflow of its instance does. */
  moves(): Promise<void>
  life(): Promise<VolumeLife>
  hostComesBack(): Promise<void>
  /** Deletes the volume. A workflow that still runs would hold back the server's clock for the next test. */
  end(): Promise<void>
}

export interface VolumeWorldOptions extends FakeVolumeHostOptions {
  readonly settings?: Partial<VolumeSettings>
  /** If true, the host takes no work until `hostComesBack` is called. */
  readonly hostAway?: boolean
  /** Fails the nth write, counted from 1. */
  readonly writeFails?: (nth: number) => boolean
}

export async function createVolumeWorld(
  env: TestWorkflowEnvironment,
  options: VolumeWorldOptions = {},
): Promise<VolumeWorld> {
  const settings: VolumeSettings = {
    volumeUuid: randomUUID(),
    name: 'vol-data',
    userUuid: randomUUID(),
    nodeId: `node-${randomUUID().slice(0, 8)}`,
    sizeMb: 64,
    ...options.settings,
  }
  const row = new FakeRow<VolumeRecord>(options.writeFails)
  const control: Pick<ControlActivities, 'recordVolume' | 'deleteVolumeRow'> = {
    recordVolume: async ({ revision, record }) => void row.write(revision, record),
    deleteVolumeRow: async () => row.delete(),
  }
  const host = new FakeVolumeHost(options)
  const otherHost = Object.assign(new FakeVolumeHost({}), { nodeId: `${settings.nodeId}-other` })
  const hosts = { [settings.nodeId]: host.activities }
  const others = { [otherHost.nodeId]: otherHost.activities }
  const id = volumeWorkflowId(settings.volumeUuid)
  const world = await createEntityWorld(env, {
    id,
    work: { control, hosts: { ...hosts, ...others } },
    ...(options.hostAway === true && { begun: { control, hosts: others } }),
  })
  const volumeControl = createVolumeControl(env.client)
  return {
    ...world,
    settings,
    control: volumeControl,
    host,
    otherHost,
    row,
    reaches: (fits) => row.reaches(fits),
    reachesPhase: (phase) => row.reaches((record) => record.phase === phase),
    gone: row.gone,
    moves: () => env.client.workflow.getHandle(id).signal(volumeMovedSignal, { nodeId: otherHost.nodeId }),
    tells: (event) => env.client.workflow.getHandle(id).signal(volumeEventSignal, event),
    life: () => world.life(volumeLifeQuery),
    hostComesBack: () => world.addWorkers({ hosts }),
    async end() {
      await volumeControl.delete(settings)
      await world.close()
    },
  }
}

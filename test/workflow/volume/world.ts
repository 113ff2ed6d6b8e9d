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
import { volumeEventSignal, volumeLifeQuery, volumeWorkflowId } from '../../../workflows/volume/messages.ts'
import { FakeVolumeHost } from '../../support/fake-volume-host.ts'
import type { FakeVolumeHostOptions } from '../../support/fake-volume-host.ts'
import { runWorkers } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'

/** One volume on a fake host, with its row in memory. */
export interface VolumeWorld {
  readonly settings: VolumeSettings
  readonly control: VolumeControl
  readonly host: FakeVolumeHost
  readonly row: FakeVolumeRow
  readonly id: string
  /** Resolves when what is recorded fits. */
  reaches(fits: (record: VolumeRecord) => boolean): Promise<VolumeRecord>
  reachesPhase(phase: VolumePhase): Promise<VolumeRecord>
  /** Resolves when the row is deleted. */
  readonly gone: Promise<void>
  /** The host's word, as its agent sends it. */
  tells(event: VolumeEvent): Promise<void>
  life(): Promise<VolumeLife>
  details(): Promise<string>
  hostComesBack(): Promise<void>
  restartWorkers(): Promise<void>
  /** Deletes the volume: a workflow that is left under way would hold the time of the next test. */
  end(): Promise<void>
}

/** What PostgreSQL would hold: a write with an older revision changes nothing. */
export interface FakeVolumeRow {
  revision: number
  record: VolumeRecord | undefined
  readonly written: VolumeRecord[]
}

export interface VolumeWorldOptions extends FakeVolumeHostOptions {
  readonly settings?: Partial<VolumeSettings>
  /** Without it nobody polls the host's queue. */
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
  const row: FakeVolumeRow = { revision: 0, record: undefined, written: [] }
  const watchers = new Set<() => void>()
  const deleted = Promise.withResolvers<void>()
  let writes = 0
  const control: Pick<ControlActivities, 'recordVolume' | 'deleteVolumeRow'> = {
    async recordVolume({ revision, record }) {
      writes += 1
      if (options.writeFails?.(writes) === true) throw new Error('the database is away')
      if (revision <= row.revision) return
      row.revision = revision
      row.record = record
      row.written.push(record)
      for (const watch of watchers) watch()
    },
    async deleteVolumeRow() {
      deleted.resolve()
    },
  }
  const host = new FakeVolumeHost(options)
  const hosts = { [settings.nodeId]: host.activities }
  const workers: RunningWorkers[] = [
    await runWorkers(env, { control, hosts: options.hostAway === true ? {} : hosts }),
  ]
  const volumeControl = createVolumeControl(env.client)
  const id = volumeWorkflowId(settings.volumeUuid)
  const handle = env.client.workflow.getHandle(id)
  const reaches = (fits: (record: VolumeRecord) => boolean): Promise<VolumeRecord> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (row.record === undefined || !fits(row.record)) return
        watchers.delete(look)
        resolve(row.record)
      }
      watchers.add(look)
      look()
    })
  return {
    settings,
    control: volumeControl,
    host,
    row,
    id,
    reaches,
    reachesPhase: (phase) => reaches((record) => record.phase === phase),
    gone: deleted.promise,
    tells: (event) => handle.signal(volumeEventSignal, event),
    life: () => handle.query(volumeLifeQuery),
    async details() {
      const { currentDetails } = await handle.query<{ readonly currentDetails?: string }>(
        '__temporal_workflow_metadata',
      )
      return currentDetails ?? ''
    },
    async hostComesBack() {
      workers.push(await runWorkers(env, { hosts }))
    },
    async restartWorkers() {
      for (const one of workers.splice(0)) await one.stop()
      workers.push(await runWorkers(env, { control, hosts }))
    },
    async end() {
      await volumeControl.delete(settings)
      await handle.result()
      for (const one of workers) await one.stop()
    },
  }
}

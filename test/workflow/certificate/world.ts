import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ControlActivities } from '../../../activities/control-activities.ts'
import type { CertificateControl } from '../../../src/control/certificate-control.ts'
import { createCertificateControl } from '../../../src/control/temporal-certificate-control.ts'
import { certificateWork } from '../../../src/domain/certificate/lifecycle.ts'
import type { CertificateLife } from '../../../src/domain/certificate/lifecycle.ts'
import type { CertificateSettings } from '../../../src/domain/certificate/settings.ts'
import type { CertificateState } from '../../../src/domain/service/handler.ts'
import { certificateLifeQuery, certificateWorkflowId } from '../../../workflows/certificate/messages.ts'
import { FakeCertificateSteps } from '../../support/fake-certificate-steps.ts'
import type { FakeCertificateStepsOptions } from '../../support/fake-certificate-steps.ts'
import { runWorkers } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

export type FakeRecord = Parameters<ControlActivities['recordCertificate']>[0]['record']

/** One requested certificate with fake steps, and its row in memory. */
export interface CertificateWorld {
  readonly settings: CertificateSettings
  readonly control: CertificateControl
  readonly steps: FakeCertificateSteps
  readonly row: FakeCertificateRow
  readonly id: string
  /** Resolves when what is recorded fits. */
  reaches(fits: (record: FakeRecord) => boolean): Promise<FakeRecord>
  reachesState(state: CertificateState): Promise<FakeRecord>
  life(): Promise<CertificateLife>
  details(): Promise<string>
  restartWorkers(): Promise<void>
  /** Resolves when the workflow has ended by itself. */
  over(): Promise<void>
  /** Deletes it: a workflow that is left under way would hold the time of the next test. */
  end(): Promise<void>
}

/** What PostgreSQL would hold: a write with an older revision changes nothing. */
export interface FakeCertificateRow {
  revision: number
  record: FakeRecord | undefined
  readonly written: FakeRecord[]
  isGone: boolean
}

export interface CertificateWorldOptions extends Omit<FakeCertificateStepsOptions, 'nowMs'> {
  readonly settings?: Partial<CertificateSettings>
  /** Fails the nth write, counted from 1. */
  readonly writeFails?: (nth: number) => boolean
}

export async function createCertificateWorld(
  env: TestWorkflowEnvironment,
  options: CertificateWorldOptions = {},
): Promise<CertificateWorld> {
  const settings: CertificateSettings = {
    certificateUuid: randomUUID(),
    name: 'shop-ab12c',
    userUuid: randomUUID(),
    commonName: 'shop.example.test',
    ...options.settings,
  }
  const row: FakeCertificateRow = { revision: 0, record: undefined, written: [], isGone: false }
  const watchers = new Set<() => void>()
  let writes = 0
  const steps = new FakeCertificateSteps({ ...options, nowMs: () => env.currentTimeMs() })
  const activities: Pick<ControlActivities, 'recordCertificate'> & typeof steps.activities = {
    ...steps.activities,
    async recordCertificate({ revision, record }) {
      writes += 1
      if (options.writeFails?.(writes) === true) throw new Error('the database is away')
      if (row.isGone) return false
      if (revision > row.revision) {
        row.revision = revision
        row.record = record
        row.written.push(record)
      }
      for (const watch of watchers) watch()
      return true
    },
  }
  const workers: RunningWorkers[] = [await runWorkers(env, { control: activities })]
  const control = createCertificateControl(env.client)
  const id = certificateWorkflowId(settings.certificateUuid)
  const handle = env.client.workflow.getHandle(id)
  const reaches = (fits: (record: FakeRecord) => boolean): Promise<FakeRecord> =>
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
    control,
    steps,
    row,
    id,
    reaches,
    reachesState: (state) => reaches((record) => record.state === state),
    life: () => handle.query(certificateLifeQuery),
    async details() {
      const { currentDetails } = await handle.query<{ readonly currentDetails?: string }>(
        '__temporal_workflow_metadata',
      )
      return currentDetails ?? ''
    },
    async restartWorkers() {
      for (const one of workers.splice(0)) await one.stop()
      workers.push(await runWorkers(env, { control: activities }))
    },
    over: () => handle.result(),
    async end() {
      // The time-skipping server can not take a cancellation of what ends at the same moment; a real one can.
      const isQuiet = async () => certificateWork(await handle.query(certificateLifeQuery)) === undefined
      if (options.gate === undefined && !row.isGone)
        await until('nothing is under way', isQuiet, { limitMs: 20_000 })
      await control.delete(settings.certificateUuid)
      await handle.result()
      for (const one of workers) await one.stop()
    },
  }
}

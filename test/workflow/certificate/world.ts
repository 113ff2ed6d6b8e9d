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
import { until } from '../../support/until.ts'
import { createEntityWorld, FakeRow } from '../entity-world.ts'
import type { EntityWorld } from '../entity-world.ts'

type CertificateRecord = Parameters<ControlActivities['recordCertificate']>[0]['record']

/** One requested certificate with fake steps, and its row in memory. */
export interface CertificateWorld extends Omit<EntityWorld, 'life' | 'addWorkers' | 'close'> {
  readonly settings: CertificateSettings
  readonly control: CertificateControl
  readonly steps: FakeCertificateSteps
  readonly row: FakeRow<CertificateRecord>
  /** Resolves with the row's record as soon as the record fits. */
  reaches(fits: (record: CertificateRecord) => boolean): Promise<CertificateRecord>
  reachesState(state: CertificateState): Promise<CertificateRecord>
  life(): Promise<CertificateLife>
  /**
   * Deletes the certificate. A workflow that still runs would hold back the server's clock for the next test.
   */
  end(): Promise<void>
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
  const row = new FakeRow<CertificateRecord>(options.writeFails)
  const steps = new FakeCertificateSteps({ ...options, nowMs: () => env.currentTimeMs() })
  const activities: Pick<ControlActivities, 'recordCertificate'> & typeof steps.activities = {
    ...steps.activities,
    recordCertificate: async ({ revision, record }) => row.write(revision, record),
  }
  const world = await createEntityWorld(env, {
    id: certificateWorkflowId(settings.certificateUuid),
    work: { control: activities },
  })
  const control = createCertificateControl(env.client)
  const life = (): Promise<CertificateLife> => world.life(certificateLifeQuery)
  return {
    ...world,
    settings,
    control,
    steps,
    row,
    reaches: (fits) => row.reaches(fits),
    reachesState: (state) => row.reaches((record) => record.state === state),
    life,
    async end() {
      // A cancellation can reach an activity at the moment in which the activity ends. The time-skipping
      // server fails then; a real server does not. So the deletion waits until no step is under way.
      const isQuiet = async () => certificateWork(await life()) === undefined
      if (options.gate === undefined && !row.isGone)
        await until('nothing is under way', isQuiet, { limitMs: 20_000 })
      await control.delete(settings.certificateUuid)
      await world.close()
    },
  }
}

import { continueAsNew, setHandler } from '@temporalio/workflow'
import {
  certificateWakeAtMs,
  certificateWork,
  decideCertificate,
  newCertificateLife,
} from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLife, CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import { spreadOf } from '../../src/domain/certificate/schedule.ts'
import { certificateNews } from '../../src/domain/certificate/news.ts'
import type { CertificateSettings } from '../../src/domain/certificate/settings.ts'
import type { News } from '../../src/domain/event/news.ts'
import { createEntityRecorder } from '../entity-recorder.ts'
import { createEntityWorker } from '../entity-worker.ts'
import { runEntity } from '../entity.ts'
import type { Entity, EntityLoop } from '../entity.ts'
import { rowWrites } from '../row-writes.ts'
import { certificateCalls } from './calls.ts'
import { certificateDetails, whatIsDue } from './details.ts'
import * as message from './messages.ts'

/** What one run of the workflow hands to the next run. Times are absolute. */
export interface CarriedCertificate {
  readonly life: CertificateLife
  readonly recorded: number
  readonly news?: readonly News[]
}

/** The workflow of one requested certificate and its renewals, as long as its row exists. */
export async function certificate(
  settings: CertificateSettings,
  carried?: CarriedCertificate,
): Promise<void> {
  const spread = spreadOf(settings.certificateUuid)
  await runEntity<CertificateLife, CertificateLifeEvent>({
    life: carried?.life ?? settings.recorded ?? newCertificateLife,
    decide: (life, event, nowMs) => decideCertificate(life, event, { nowMs, spread }),
    newsOf: certificateNews,
    ...(carried?.news !== undefined && { news: carried.news }),
    define: (loop) => define(loop, settings, carried?.recorded ?? settings.recorded?.revision ?? 0),
  })
}

type Loop = EntityLoop<CertificateLife, CertificateLifeEvent>

function define(
  loop: Loop,
  settings: CertificateSettings,
  recorded: number,
): Entity<CertificateLife, CertificateLifeEvent> {
  const { certificateUuid } = settings
  setHandler(message.retrySignal, () => void loop.say({ kind: 'retry' }), {
    description: 'Do not wait for the next attempt, or try again what was given up',
  })
  const worker = createEntityWorker(loop, {
    ...certificateCalls({ certificateUuid }),
    workOf: certificateWork,
  })
  const recorder = createEntityRecorder(loop, {
    recorded,
    async write({ revision, state, attempt, nextAtMs, failure }, news) {
      const record = {
        state,
        attempt,
        ...(nextAtMs !== undefined && { nextAtMs }),
        ...(failure !== undefined && { failure }),
      }
      const isThere = await rowWrites.recordCertificate({ certificateUuid, revision, record, news })
      if (!isThere) loop.say({ kind: 'gone' })
    },
  })
  return {
    begin: { kind: 'begin' },
    parts: [worker, recorder],
    // A certificate is deleted when its row is gone, so there is no row to delete here. But a step that was
    // called off is over only when its worker has ended it.
    isOver: ({ deleted }) => deleted === true && !worker.busy && !recorder.busy,
    nextRun: (life) =>
      continueAsNew<typeof certificate>(settings, { life, recorded: recorder.recorded, news: loop.news }),
    stateOf: ({ state }) => state,
    details: (life) => certificateDetails(life, settings),
    due: (life) => ({ atMs: certificateWakeAtMs(life), summary: whatIsDue(life), event: { kind: 'tick' } }),
  }
}

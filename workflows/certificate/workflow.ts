import {
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import {
  certificateWakeAtMs,
  certificateWork,
  decideCertificate,
  newCertificateLife,
} from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLife, CertificateLifeEvent } from '../../src/domain/certificate/lifecycle.ts'
import { spreadOf } from '../../src/domain/certificate/schedule.ts'
import type { CertificateSettings } from '../../src/domain/certificate/settings.ts'
import { certificateDetails, whatIsDue } from './details.ts'
import * as message from './messages.ts'
import { createCertificateRecorder } from './recorder.ts'
import { createCertificateWorker } from './worker.ts'
import { receiveTheRest, untilChanged, wantsNewRun } from '../entity-loop.ts'
import type { LoopState } from '../entity-loop.ts'
import { deleteSignal } from '../entity-messages.ts'
import { stateAttribute } from '../search-attributes.ts'

/**
 * What one run hands to the next: times are absolute. A change that old values do not fit gets a new number.
 */
export interface CarriedCertificate {
  readonly schemaVersion: 1
  readonly life: CertificateLife
  readonly recorded: number
}

/**
 * One requested certificate and its renewals, for as long as its row exists. Messages and time feed its life;
 * one loop compares what that wants with what is under way. A cancellation from outside changes nothing: a
 * certificate goes by being deleted.
 */
export async function certificate(
  settings: CertificateSettings,
  carried?: CarriedCertificate,
): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface CertificateLoop extends LoopState {
  life: CertificateLife
  say(event: CertificateLifeEvent): void
}

function createLoop(life: CertificateLife, spread: number): CertificateLoop {
  return {
    life,
    changed: true,
    refreshWanted: false,
    say(event) {
      this.life = decideCertificate(this.life, event, { nowMs: Date.now(), spread })
      this.changed = true
    },
  }
}

async function live(settings: CertificateSettings, carried: CarriedCertificate | undefined): Promise<void> {
  const { certificateUuid } = settings
  const known = carried?.life ?? settings.recorded ?? newCertificateLife
  const loop = createLoop(known, spreadOf(certificateUuid))
  let shownState = known.state
  receive(loop)
  // A deletion that came with the start has been heard by now: then there is nothing to begin.
  loop.say({ kind: 'begin' })

  const onDone = (): void => {
    loop.changed = true
  }
  const worker = createCertificateWorker({ certificateUuid, say: (event) => loop.say(event), onDone })
  const recorder = createCertificateRecorder({
    certificateUuid,
    recorded: carried?.recorded ?? settings.recorded?.revision ?? 0,
    onDone,
    onGone: () => loop.say({ kind: 'gone' }),
  })

  for (;;) {
    loop.changed = false
    const { life } = loop
    if (life.deleted === true) break
    if (wantsNewRun(loop) && !worker.busy && !recorder.busy) {
      await continueAsNew<typeof certificate>(settings, {
        schemaVersion: 1,
        life,
        recorded: recorder.recorded,
      })
    }
    worker.align(certificateWork(life))
    recorder.align(life)
    if (life.state !== shownState) upsertSearchAttributes([{ key: stateAttribute, value: life.state }])
    shownState = life.state
    setCurrentDetails(certificateDetails(life, settings))
    await untilChanged(loop, {
      atMs: certificateWakeAtMs(loop.life),
      summary: whatIsDue(loop.life),
      onTick: () => loop.say({ kind: 'tick' }),
    })
  }
  worker.align(undefined)
  await condition(() => !worker.busy && !recorder.busy)
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(loop: CertificateLoop): void {
  setHandler(deleteSignal, () => loop.say({ kind: 'delete' }), { description: 'Its row is gone: end' })
  setHandler(message.retrySignal, () => loop.say({ kind: 'retry' }), {
    description: 'Do not wait for the next attempt, or try again what was given up',
  })
  setHandler(message.certificateLifeQuery, () => loop.life, { description: 'All that is known of its life' })
  receiveTheRest(loop)
}

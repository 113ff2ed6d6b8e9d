import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import { CertificateState } from '../../src/domain/service/handler.ts'
import { until } from '../support/until.ts'
import { createCertificateWorld } from '../workflow/certificate/world.ts'
import { storiesIn } from './story.ts'
import type { Story } from './story.ts'

const { Prove, Install } = CertificateStep
const { Valid } = CertificateState
const soon = { limitMs: 30_000 }
const failed = { verdict: 'failed', reason: 'the name leads elsewhere' } as const

const story = storiesIn(createCertificateWorld)

/** The lives of requested certificates that are recorded. */
export const certificateStories: Readonly<Record<string, Story>> = {
  'certificate-failed-and-tried-again': story(
    { outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) },
    async (world) => {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  ),
  'certificate-of-seconds-expires': story(
    {
      validityOf: (nth, nowMs) => ({
        notBeforeMs: nowMs,
        notAfterMs: nowMs + (nth === 1 ? 2_000 : 86_400_000),
      }),
    },
    async (world) => {
      await until('a second one is there', () => world.steps.count(Install) === 2, soon)
      await world.reachesState(Valid)
    },
  ),
  'certificate-deleted-during-its-proof': story(
    { gate: (work) => (work === Prove ? new Promise(() => undefined) : undefined) },
    async (world) => {
      await until('it is being proved', () => world.steps.count(Prove) === 1, soon)
      await world.control.delete(world.settings.certificateUuid)
      await world.over()
    },
  ),
  'certificate-continued-as-new': story(
    { outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) },
    async (world) => {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.refresh(world.settings.certificateUuid)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  ),
}

import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import { CertificateState } from '../../src/domain/service/handler.ts'
import { until } from '../support/until.ts'
import type { CertificateWorld, CertificateWorldOptions } from '../workflow/certificate/world.ts'

const { Order, Prove, Install } = CertificateStep
const { Valid, Error: Failed } = CertificateState
const soon = { limitMs: 30_000 }
const failed = { verdict: 'failed', reason: 'the name leads elsewhere' } as const

export interface CertificateStory {
  readonly options: CertificateWorldOptions
  readonly lived: (world: CertificateWorld, env: TestWorkflowEnvironment) => Promise<void>
}

/** Lives of requested certificates that are recorded. */
export const certificateStories: Readonly<Record<string, CertificateStory>> = {
  'certificate-issued': {
    options: {},
    async lived(world) {
      await world.reachesState(Valid)
      await until('it was asked when to renew it', () => world.steps.count('ask') === 1, soon)
    },
  },
  'certificate-failed-and-tried-again': {
    options: { outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) },
    async lived(world) {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  },
  'certificate-refused-then-retried': {
    options: {
      outcomeOf: (step, nth) =>
        step === Order && nth === 1 ? { verdict: 'refused', reason: 'on a list' } : undefined,
    },
    async lived(world) {
      await world.reachesState(Failed)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  },
  'certificate-put-off': {
    options: {
      outcomeOf: (step, nth) =>
        step === Order && nth === 1 ? { verdict: 'later', reason: 'too many orders' } : undefined,
    },
    async lived(world) {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  },
  'certificate-of-seconds-expires': {
    options: {
      validityOf: (nth, nowMs) => ({
        notBeforeMs: nowMs,
        notAfterMs: nowMs + (nth === 1 ? 2_000 : 86_400_000),
      }),
    },
    async lived(world) {
      await until('a second one is there', () => world.steps.count(Install) === 2, soon)
      await world.reachesState(Valid)
    },
  },
  'certificate-own-trouble': {
    options: {
      outcomeOf: (step, nth) => (step === Prove && nth < 3 ? { broken: 'the disk is full' } : undefined),
    },
    async lived(world) {
      await world.reachesState(Valid)
    },
  },
  'certificate-gone-by-itself': {
    options: { outcomeOf: (step) => (step === Prove ? 'gone' : undefined) },
    async lived(world) {
      await world.over()
      world.row.isGone = true
    },
  },
  'certificate-deleted-during-its-proof': {
    options: { gate: (work) => (work === Prove ? new Promise(() => undefined) : undefined) },
    async lived(world) {
      await until('it is being proved', () => world.steps.count(Prove) === 1, soon)
      await world.control.delete(world.settings.certificateUuid)
      await world.over()
    },
  },
  'certificate-continued-as-new': {
    options: { outcomeOf: (step, nth) => (step === Prove && nth === 1 ? failed : undefined) },
    async lived(world) {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.refresh(world.settings.certificateUuid)
      await world.control.retry(world.settings)
      await world.reachesState(Valid)
    },
  },
}

import { Context } from '@temporalio/activity'
import type { CertificateActivities, CertificateInput } from '../../activities/certificate/activities.ts'
import { CertificateStep } from '../../src/domain/certificate/lifecycle.ts'
import type { CertificateLifeEvent, CertificateWork } from '../../src/domain/certificate/lifecycle.ts'
import type { RenewalAdvice, Validity } from '../../src/domain/certificate/schedule.ts'

export interface FakeCertificateStepsOptions {
  /**
   * The result of the nth call of a step, counted from 1. Undefined: the step succeeds. The text in `broken`
   * is thrown as an error.
   */
  readonly outcomeOf?: (
    step: CertificateStep,
    nth: number,
  ) => Pick<StepFailed, 'verdict' | 'reason' | 'retryAtMs'> | 'gone' | { readonly broken: string } | undefined
  /** The validity of the nth certificate that is issued, counted from 1. */
  readonly validityOf?: (nth: number, nowMs: number) => Validity
  readonly adviceOf?: (nth: number) => RenewalAdvice
  /** Holds a call until the promise resolves, or the call is called off. */
  readonly gate?: (work: CertificateWork, nth: number) => Promise<void> | undefined
  readonly nowMs: () => Promise<number>
}

type StepFailed = Extract<CertificateLifeEvent, { readonly kind: 'step-failed' }>

const beatEveryMs = 200
const dayMs = 86_400_000
export const fakeLifeMs = 90 * dayMs

/** The steps to a certificate, without authority and database. The test says the result of each. */
export class FakeCertificateSteps {
  readonly calls: CertificateWork[] = []
  readonly calledOff: CertificateWork[] = []
  /** The time of each call. */
  readonly calledAtMs: number[] = []
  /** How many calls began while another was under way. */
  overlaps = 0
  readonly activities: CertificateActivities
  readonly #options: FakeCertificateStepsOptions
  #underWay = 0

  constructor(options: FakeCertificateStepsOptions) {
    this.#options = options
    const stepOf = (step: CertificateStep) => async (_input: CertificateInput) => this.#step(step)
    this.activities = {
      orderCertificate: stepOf(CertificateStep.Order),
      proveCertificate: stepOf(CertificateStep.Prove),
      finaliseCertificate: stepOf(CertificateStep.Finalise),
      installCertificate: stepOf(CertificateStep.Install),
      findRenewalAdvice: async () => {
        const nth = await this.#called('ask')
        this.#underWay -= 1
        return { kind: 'renewal-advised', advice: this.#options.adviceOf?.(nth) ?? {} }
      },
    }
  }

  count(work: CertificateWork): number {
    return this.calls.filter((one) => one === work).length
  }

  timesOf(work: CertificateWork): readonly number[] {
    return this.calledAtMs.filter((_, index) => this.calls[index] === work)
  }

  async #called(work: CertificateWork): Promise<number> {
    this.calls.push(work)
    this.calledAtMs.push(await this.#options.nowMs())
    if (this.#underWay > 0) this.overlaps += 1
    this.#underWay += 1
    const nth = this.count(work)
    const gate = this.#options.gate?.(work, nth)
    if (gate !== undefined) await this.#hold(work, gate)
    return nth
  }

  /**
   * Sends heartbeats while the call is held, because a call learns with a heartbeat that it is called off.
   */
  async #hold(work: CertificateWork, gate: Promise<void>): Promise<void> {
    const context = Context.current()
    const beat = setInterval(() => context.heartbeat(), beatEveryMs)
    try {
      await Promise.race([gate, context.cancelled])
    } catch (error) {
      this.calledOff.push(work)
      this.#underWay -= 1
      throw error
    } finally {
      clearInterval(beat)
    }
  }

  async #step(step: CertificateStep): Promise<CertificateLifeEvent> {
    const nth = await this.#called(step)
    this.#underWay -= 1
    const outcome = this.#options.outcomeOf?.(step, nth)
    if (outcome === 'gone') return { kind: 'gone' }
    if (outcome === undefined) return this.#success(step)
    if ('broken' in outcome) throw new Error(outcome.broken)
    return { kind: 'step-failed', step, ...outcome }
  }

  async #success(step: CertificateStep): Promise<CertificateLifeEvent> {
    if (step !== CertificateStep.Install) return { kind: 'step-done', step }
    const nowMs = await this.#options.nowMs()
    const nth = this.count(step)
    const usual = { notBeforeMs: nowMs, notAfterMs: nowMs + fakeLifeMs }
    return { kind: 'installed', validity: this.#options.validityOf?.(nth, nowMs) ?? usual }
  }
}

import type { AutoscaleMetric, AutoscaleStep } from './policy.ts'
import type { WantedBack } from './shrinking.ts'

/** What there is to do. The kinds are in the order of their weight, the weightiest first. */
export type AutoscaleOutcome =
  | { readonly kind: 'replace'; readonly target: number; readonly failed: readonly FailedMember[] }
  /** The size differs from the decided one, or the decided one is out of bounds. */
  | { readonly kind: 'align'; readonly target: number; readonly size: number }
  | { readonly kind: 'resize'; readonly target: number; readonly decision: SizeDecision }
  | { readonly kind: 'recovered' }

export interface FailedMember {
  readonly uuid: string
  readonly name: string
  readonly reason: string
}

/** What the policies conclude from the metrics, for people. */
export interface Judgement {
  readonly policy: string
  readonly metric: AutoscaleMetric
  readonly value: number
  readonly step: AutoscaleStep
  /** How many instances were measured. */
  readonly counted: number
  /** The size that follows, before the bounds apply and before anything keeps the size from going down. */
  readonly proposed: number
}

/** Why a size was chosen: for people. */
export interface SizeDecision extends Judgement {
  readonly from: number
  readonly to: number
}

/** Why the size stays: for people. */
export type RestReason =
  | { readonly kind: 'no-policy' }
  | { readonly kind: 'observing'; readonly looks: number }
  | { readonly kind: 'warming'; readonly names: readonly string[] }
  | { readonly kind: 'load-unknown'; readonly names: readonly string[] }
  | { readonly kind: 'no-step' }
  | { readonly kind: 'right-size'; readonly judgement: Judgement }
  | {
      readonly kind: 'at-bound'
      readonly bound: 'min_size' | 'max_size'
      readonly judgement: Judgement
    }
  | { readonly kind: 'blocked'; readonly untilMs: number }
  /** There are too many instances, but those that would stay do not serve yet. */
  | { readonly kind: 'standing-in'; readonly names: readonly string[] }
  | { readonly kind: 'settling'; readonly untilMs: number; readonly judgement: Judgement }
  /** With fewer instances, a policy would want more again at once. */
  | { readonly kind: 'would-return'; readonly judgement: Judgement; readonly wantedBack: WantedBack }

import type { AutoscaleMetric, AutoscaleStep } from './policy.ts'
import type { WantedBack } from './shrinking.ts'

/** What there is to do, of most weight first. */
export type AutoscaleOutcome =
  | { readonly kind: 'replace'; readonly target: number; readonly failed: readonly FailedMember[] }
  /** The size is not the one that was decided on, or that one is out of bounds. */
  | { readonly kind: 'align'; readonly target: number; readonly size: number }
  | { readonly kind: 'resize'; readonly target: number; readonly decision: SizeDecision }
  | { readonly kind: 'recovered' }

export interface FailedMember {
  readonly uuid: string
  readonly name: string
  readonly reason: string
}

/** What the policies make of what is measured: for people. */
export interface Judgement {
  readonly policy: string
  readonly metric: AutoscaleMetric
  readonly value: number
  readonly step: AutoscaleStep
  /** Instances that were measured. */
  readonly counted: number
  /** The size that comes of it, before the bounds and what keeps a size from going down. */
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
  /** There are too many, and those that would stay do not serve yet. */
  | { readonly kind: 'standing-in'; readonly names: readonly string[] }
  | { readonly kind: 'settling'; readonly untilMs: number; readonly judgement: Judgement }
  /** Fewer would be wanted back at once. */
  | { readonly kind: 'would-return'; readonly judgement: Judgement; readonly wantedBack: WantedBack }

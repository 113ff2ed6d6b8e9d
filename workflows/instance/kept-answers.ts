import type { TransitionAnswer } from './messages.ts'

/** The id of an update and its answer. */
export interface KeptAnswer {
  readonly id: string
  readonly answer: TransitionAnswer
}

/**
 * The most answers that are kept. A caller that lost its connection repeats its update within seconds; 50
 * answers reach much further back.
 */
const mostKept = 50

export interface KeptAnswers {
  /**
   * Returns the kept answer for this id. If there is none, calls `decide`, keeps its answer and returns it.
   */
  once(id: string | undefined, decide: () => TransitionAnswer): TransitionAnswer
  readonly kept: readonly KeptAnswer[]
}

/**
 * Makes updates with the same id act once. Temporal does so by itself, but only within one run; kept answers
 * survive continue-as-new.
 */
export function keepAnswers(earlier: readonly KeptAnswer[]): KeptAnswers {
  let kept = earlier
  return {
    once(id, decide) {
      const known = kept.find((one) => one.id === id)
      if (known !== undefined) return known.answer
      const answer = decide()
      if (id !== undefined) kept = [...kept, { id, answer }].slice(-mostKept)
      return answer
    },
    get kept() {
      return kept
    },
  }
}

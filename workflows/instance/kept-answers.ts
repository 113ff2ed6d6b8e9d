import type { TransitionAnswer } from './messages.ts'

/** The id of an update and its answer. */
export interface KeptAnswer {
  readonly id: string
  readonly answer: TransitionAnswer
}

/**
 * The most kept answers. Repeats come from a caller that lost its connection, seconds later; 50 answers
 * reach back much further.
 */
const mostKept = 50

export interface KeptAnswers {
  /** The kept answer for the id if there is one, otherwise the present answer of `decide`. */
  once(id: string | undefined, decide: () => TransitionAnswer): TransitionAnswer
  readonly kept: readonly KeptAnswer[]
}

/** Temporal drops repeated updates within one run only. Kept answers survive continue-as-new. */
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

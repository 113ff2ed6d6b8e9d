import type { TransitionAnswer } from './messages.ts'

/** An update's id and what was answered to it. */
export interface KeptAnswer {
  readonly id: string
  readonly answer: TransitionAnswer
}

/** Repeats come from a caller that lost the connection, seconds later: 50 answers reach far further back. */
const mostKept = 50

export interface KeptAnswers {
  /** The answer of that id if there is one, else what `decide` answers now. */
  once(id: string | undefined, decide: () => TransitionAnswer): TransitionAnswer
  readonly kept: readonly KeptAnswer[]
}

/** Temporal drops repeated updates within one run only; this goes on beyond continue-as-new. */
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

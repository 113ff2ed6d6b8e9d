import type { VNode } from 'preact'
import { readable } from '../event/event-text.ts'
import { useRepeated } from '../frame/repeated.ts'

/** What the API's explanations of all kinds of objects have. */
export interface Explanation {
  readonly now: string
  readonly next: string
  readonly failure?: string
  readonly note?: string
  /** Why an instance is on its host. */
  readonly placed?: string
}

export interface Explained<E> {
  readonly explanation: E | undefined
  readonly problem: string | undefined
}

const explainEveryMs = 5_000

/** What an object does at present and why, and what comes next, as the API explains it. */
export function Why({ explanation, problem }: Explained<Explanation>): VNode {
  return (
    <section class="why" aria-label="Why it is so" aria-busy={explanation === undefined}>
      {explanation?.failure !== undefined && <p class="problem">{readable(explanation.failure)}</p>}
      <p>{explanation === undefined ? problem : readable(explanation.now)}</p>
      <p class="soft">{explanation !== undefined && `Next: ${readable(explanation.next)}`}</p>
      {explanation?.placed !== undefined && <p class="soft">Placement: {readable(explanation.placed)}</p>}
      {explanation?.note !== undefined && <p class="faint small">{readable(explanation.note)}</p>}
    </section>
  )
}

/** The explanation, read again when the object changes, and now and then besides: it names requests. */
export function useExplanation<E>(
  object: unknown,
  explain: (signal: AbortSignal) => Promise<E>,
): Explained<E> {
  const { known: explanation, problem } = useRepeated(explain, explainEveryMs, [object])
  return { explanation, problem }
}

import type { VNode } from 'preact'
import type { Mood } from '../instance/mood.ts'

/** A state as a word, a colour and a sign that also tells without colours. */
export function StateMark(props: {
  readonly mood: Mood
  readonly word: string
  readonly isFilled?: boolean
}): VNode {
  return (
    <span class={props.isFilled === true ? `state filled ${props.mood}` : `state ${props.mood}`}>
      <span class="dot" />
      {props.word}
    </span>
  )
}

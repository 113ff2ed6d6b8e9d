import type { VNode } from 'preact'
import { moodOf, stateWord } from './mood.ts'
import type { Instance } from './mood.ts'

/** The state of an instance: a word, a colour and a sign that also tells without colours. */
export function StateSign(props: { readonly instance: Instance; readonly isFilled?: boolean }): VNode {
  const mood = moodOf(props.instance)
  return (
    <span class={props.isFilled === true ? `state filled ${mood}` : `state ${mood}`}>
      <span class="dot" />
      {stateWord(props.instance)}
    </span>
  )
}

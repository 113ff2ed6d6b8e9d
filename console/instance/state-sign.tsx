import type { VNode } from 'preact'
import { StateMark } from '../object/state-mark.tsx'
import { moodOf, stateWord } from './mood.ts'
import type { Instance } from './mood.ts'

/** The state of an instance: a word, a colour and a sign that also tells without colours. */
export function StateSign(props: { readonly instance: Instance; readonly isFilled?: boolean }): VNode {
  const { instance, ...rest } = props
  return <StateMark mood={moodOf(instance)} word={stateWord(instance)} {...rest} />
}

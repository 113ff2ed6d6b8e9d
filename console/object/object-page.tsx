import { useState } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { isSessionEnd, sentenceOf } from '../frame/api.ts'
import { Confirmation } from '../frame/dialog.tsx'
import { BackIcon, TrashIcon } from '../frame/icons.tsx'
import { Page } from '../frame/page.tsx'
import { go } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import type { ObjectStore } from './store.ts'

type AnyStore = Pick<ObjectStore<unknown>, 'isKnown' | 'problem' | 'refreshSoon'>

/** The list that an object belongs to. */
export interface BackTo {
  readonly title: string
  readonly address: string
}

/** The page of one object: its name, its state, and what can be done with it. */
export function ObjectPage(props: {
  readonly name: string
  readonly back: BackTo
  readonly state?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}): VNode {
  return (
    <Page
      title={props.name}
      above={
        <a class="back small" href={props.back.address}>
          <BackIcon />
          {props.back.title}
        </a>
      }
      beside={props.state}
      actions={mayOperate.value ? props.actions : undefined}
    >
      {props.children}
    </Page>
  )
}

/** The page of an object that is not there, or not yet read. */
export function AbsentObject(props: {
  readonly word: string
  /** Why it may not be there. Absent: as for an object of an account. */
  readonly why?: string
  readonly back: BackTo
  readonly store: AnyStore
}): VNode {
  const { why = 'It was deleted, or it belongs to another account.' } = props
  const { isKnown, problem } = props.store
  if (problem.value === undefined && !isKnown.value) return <div class="page" aria-busy="true" />
  return (
    <Page title={problem.value === undefined ? `No such ${props.word}` : props.back.title}>
      <p class="soft">
        {problem.value ?? why} <a href={props.back.address}>Go to the list</a>.
      </p>
    </Page>
  )
}

/** A button that asks before it does something. */
export function AskingButton(props: {
  readonly label: string
  readonly icon?: ComponentChildren
  readonly title: string
  readonly text: string
  /** Whether it can be taken back. */
  readonly isMild?: boolean
  readonly onConfirm: () => void
}): VNode {
  const [asks, setAsks] = useState(false)
  const { label, title, text, isMild = false } = props
  return (
    <>
      <button type="button" class={isMild ? 'button' : 'button danger'} onClick={() => setAsks(true)}>
        {props.icon}
        {label}
      </button>
      {asks && (
        <Confirmation
          title={title}
          text={text}
          action={label}
          isMild={isMild}
          onConfirm={props.onConfirm}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  )
}

/** Deletes an object after a question, and goes back to its list. */
export function DeleteButton(props: {
  readonly name: string
  readonly text: string
  readonly back: BackTo
  readonly store: AnyStore
  readonly run: () => Promise<unknown>
}): VNode {
  const confirm = async (): Promise<void> => {
    const isDone = await attempt(props.run, `${props.name} was deleted.`)
    props.store.refreshSoon()
    if (isDone) go(props.back.address)
  }
  return (
    <AskingButton
      label="Delete"
      icon={<TrashIcon />}
      title={`Delete ${props.name}?`}
      text={props.text}
      onConfirm={() => void confirm()}
    />
  )
}

/** Does something and says what came of it. Returns whether it was done; never throws. */
export async function attempt(run: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await run()
    say(done)
    return true
  } catch (error) {
    if (!isSessionEnd(error)) say(sentenceOf(error), { isBad: true })
    return false
  }
}

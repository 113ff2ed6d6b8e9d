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
  readonly back: BackTo
  readonly store: AnyStore
}): VNode {
  const { isKnown, problem } = props.store
  if (problem.value === undefined && !isKnown.value) return <div class="page" aria-busy="true" />
  return (
    <Page title={problem.value === undefined ? `No such ${props.word}` : props.back.title}>
      <p class="soft">
        {problem.value ?? 'It was deleted, or it belongs to another account.'}{' '}
        <a href={props.back.address}>Go to the list</a>.
      </p>
    </Page>
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
  const [asks, setAsks] = useState(false)
  const confirm = async (): Promise<void> => {
    const isDone = await attempt(props.run, `${props.name} was deleted.`)
    props.store.refreshSoon()
    if (isDone) go(props.back.address)
  }
  return (
    <>
      <button type="button" class="button danger" onClick={() => setAsks(true)}>
        <TrashIcon />
        Delete
      </button>
      {asks && (
        <Confirmation
          title={`Delete ${props.name}?`}
          text={props.text}
          action="Delete"
          onConfirm={() => void confirm()}
          onClose={() => setAsks(false)}
        />
      )}
    </>
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

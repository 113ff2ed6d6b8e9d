import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'

/** A dialog above the page. The browser keeps the keyboard inside and gives it back afterwards. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}): VNode {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={props.onClose}>
      <div class="dialog">
        <h2 id="dialog-title">{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  )
}

/** Asks before something that can not be taken back, or that reaches further than it seems. */
export function Confirmation(props: {
  readonly title: string
  readonly text: ComponentChildren
  readonly action: string
  /** Whether it can be taken back. */
  readonly isMild?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}): VNode {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p class="soft">{props.text}</p>
      <div class="actions">
        <button type="button" class="button" onClick={props.onClose} autofocus>
          Cancel
        </button>
        <button
          type="button"
          class={props.isMild === true ? 'button main' : 'button danger main'}
          onClick={() => {
            props.onClose()
            props.onConfirm()
          }}
        >
          {props.action}
        </button>
      </div>
    </Dialog>
  )
}

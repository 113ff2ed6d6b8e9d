import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'

/** The frame of one page: its title, which gets the focus when the page opens, and its actions. */
export function Page(props: {
  readonly title: string
  /** What stands behind the title. */
  readonly beside?: ComponentChildren
  readonly above?: ComponentChildren
  readonly actions?: ComponentChildren
  /** Whether the page is as high as the window, and only its list scrolls. */
  readonly fills?: boolean
  readonly children: ComponentChildren
}): VNode {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${props.title} · Roost`
  }, [props.title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <div class={props.fills === true ? 'page fills' : 'page'}>
      <header class="page-head">
        <div>
          {props.above}
          <div class="page-title">
            <h1 ref={heading} tabIndex={-1}>
              {props.title}
            </h1>
            {props.beside}
          </div>
        </div>
        {props.actions !== undefined && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  )
}

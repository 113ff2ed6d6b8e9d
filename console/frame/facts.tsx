import type { ComponentChildren, VNode } from 'preact'

/** One fact in a list of facts. */
export function Fact(props: { readonly label: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}

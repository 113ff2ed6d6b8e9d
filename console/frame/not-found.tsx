import type { VNode } from 'preact'
import { Page } from './page.tsx'
import { addressOf } from './place.ts'

export function NotFound(): VNode {
  return (
    <Page title="No such page">
      <p class="soft">
        There is nothing at this address. <a href={addressOf()}>Go to the overview</a>.
      </p>
    </Page>
  )
}

import { computed, effect } from '@preact/signals'
import type { VNode } from 'preact'
import { AccountPage } from '../account/account-page.tsx'
import { session, who } from '../account/session.ts'
import { SignIn } from '../account/sign-in.tsx'
import { tokens } from '../account/tokens.ts'
import { AutoscalePage } from '../autoscale/autoscale-page.tsx'
import { configurations } from '../autoscale/configurations.ts'
import { ScalePage } from '../autoscale/create-page.tsx'
import { ScaledServicePage } from '../autoscale/service-page.tsx'
import { forgetEvents, keepLive } from '../event/live.ts'
import { CreatePage } from '../instance/create-page.tsx'
import { InstancePage } from '../instance/instance-page.tsx'
import { InstancesPage } from '../instance/list-page.tsx'
import { forgetInstances, instanceFollower } from '../instance/store.ts'
import { OverviewPage } from '../overview/overview-page.tsx'
import { quotaFollower } from '../overview/quotas.ts'
import { objectPage, stores } from '../object/pages.tsx'
import { installationFollower } from './installation.ts'
import { KeyList } from './key-list.tsx'
import { NotFound } from './not-found.tsx'
import { place } from './place.ts'
import { Navigation } from './navigation.tsx'
import { isPresent } from './presence.ts'
import { Toasts } from './toasts.tsx'

/** What is read only when a page shows it. */
const onDemand = [tokens, configurations]

const signedInToken = computed(() => who.value?.token.uuid)

/** The whole page: the sign-in, or the frame with the page at the present address. */
export function Console(): VNode {
  const { value } = session
  if (value.kind === 'out') return <SignIn reason={value.reason} />
  if (value.kind === 'opening') return <main class="waiting" aria-busy="true" />
  if (value.kind === 'away') {
    return (
      <main class="waiting">
        <p role="status">The API does not answer. This page tries again every two seconds.</p>
      </main>
    )
  }
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the page
      </a>
      <Navigation />
      <main id="content" tabIndex={-1}>
        <PresentPage />
      </main>
      <Toasts />
      <KeyList />
    </div>
  )
}

function PresentPage(): VNode {
  const [page, object, part] = place.value.parts
  if (page === undefined) return <OverviewPage />
  if (page === 'instances') {
    if (object === undefined) return <InstancesPage />
    if (object === 'new') return <CreatePage />
    return <InstancePage key={object} uuid={object} part={part} />
  }
  if (page === 'autoscale') {
    if (object === undefined) return <AutoscalePage />
    if (object === 'new') return <ScalePage />
    return <ScaledServicePage key={object} uuid={object} />
  }
  if (page === 'account' && object === undefined) return <AccountPage />
  return (page === undefined ? undefined : objectPage(page, object, part)) ?? <NotFound />
}

/** The page follows what happens as long as somebody is signed in and may look at it. */
effect(() => {
  if (signedInToken.value === undefined || !isPresent.value) return undefined
  const ended = new AbortController()
  void keepLive([instanceFollower, quotaFollower, installationFollower, ...stores, ...onDemand], ended.signal)
  return () => ended.abort()
})

/** Nobody sees what another person had, who was signed in before. */
effect(() => {
  if (signedInToken.value !== undefined) return
  forgetInstances()
  forgetEvents()
  for (const store of stores) store.forget()
  for (const one of onDemand) one.forget()
})

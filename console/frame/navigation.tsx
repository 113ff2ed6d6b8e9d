import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { signOut, who } from '../account/session.ts'
import { Link, link } from '../event/live.ts'
import { areInstancesKnown, instances } from '../instance/store.ts'
import {
  AccountIcon,
  AutoscaleIcon,
  CertificatesIcon,
  HostsIcon,
  ImagesIcon,
  InstancesIcon,
  LeaveIcon,
  Mark,
  MoonIcon,
  OverviewIcon,
  SchedulesIcon,
  ServicesIcon,
  SunIcon,
  SystemIcon,
  VolumesIcon,
} from './icons.tsx'
import { keysShown } from './keys.ts'
import { addressOf, place } from './place.ts'
import { nextTheme, Theme, theme } from './theme.ts'

const objectLinks = [
  ['services', 'Services', ServicesIcon],
  ['volumes', 'Volumes', VolumesIcon],
  ['schedules', 'Schedules', SchedulesIcon],
  ['images', 'Images', ImagesIcon],
  ['certificates', 'Certificates', CertificatesIcon],
] as const

/** The links to all pages, the link to the API, and who is signed in. */
export function Navigation(): VNode {
  const page = place.value.parts[0]
  // On a narrow screen, the links scroll.
  useEffect(
    () => document.querySelector('.links [aria-current]')?.scrollIntoView({ block: 'nearest' }),
    [page],
  )
  return (
    <header class="side">
      <a class="brand" href={addressOf()} aria-label="Roost: overview">
        <Mark />
        <span>Roost</span>
      </a>
      <nav class="links" aria-label="Pages">
        <a href={addressOf()} aria-current={page === undefined ? 'page' : undefined}>
          <OverviewIcon />
          Overview
        </a>
        <a href={addressOf('instances')} aria-current={page === 'instances' ? 'page' : undefined}>
          <InstancesIcon />
          Instances
          <span class="number">{areInstancesKnown.value ? instances.value.size : ''}</span>
        </a>
        {objectLinks.map(([name, title, Icon]) => (
          <a key={name} href={addressOf(name)} aria-current={page === name ? 'page' : undefined}>
            <Icon />
            {title}
          </a>
        ))}
        <a href={addressOf('autoscale')} aria-current={page === 'autoscale' ? 'page' : undefined}>
          <AutoscaleIcon />
          Autoscale
        </a>
        <a href={addressOf('account')} aria-current={page === 'account' ? 'page' : undefined}>
          <AccountIcon />
          Account
        </a>
        {who.value?.admin === true && (
          <>
            <a href={addressOf('users')} aria-current={page === 'users' ? 'page' : undefined}>
              <AccountIcon />
              Users
            </a>
            <a href={addressOf('hosts')} aria-current={page === 'hosts' ? 'page' : undefined}>
              <HostsIcon />
              Hosts
            </a>
          </>
        )}
      </nav>
      <div class="side-end">
        <LinkState />
        <Account />
      </div>
    </header>
  )
}

const linkWords: Readonly<Record<Link, readonly [word: string, mood: string]>> = {
  [Link.Opening]: ['Connecting …', 'moves'],
  [Link.Live]: ['Live', 'runs'],
  [Link.Lost]: ['Not connected, trying again', 'fails'],
  [Link.Polling]: ['Every 5 seconds', 'rests'],
}

function LinkState(): VNode {
  const [word, mood] = linkWords[link.value]
  return (
    <div class={`link-state ${mood}`} role="status" title={word}>
      <span class="dot" />
      <span class="soft">{word}</span>
    </div>
  )
}

const themeIcons = { [Theme.System]: SystemIcon, [Theme.Light]: SunIcon, [Theme.Dark]: MoonIcon }
const themeWords = { [Theme.System]: 'as the system', [Theme.Light]: 'light', [Theme.Dark]: 'dark' }

function Account(): VNode {
  const ThemeIcon = themeIcons[theme.value]
  const colours = `Colours: ${themeWords[theme.value]}`
  return (
    <div class="account">
      <span class="account-name">{who.value?.user}</span>
      <span class="small faint">{rightsText()}</span>
      <div class="account-tools">
        <button type="button" class="button quiet" title={colours} aria-label={colours} onClick={nextTheme}>
          <ThemeIcon />
        </button>
        <button
          type="button"
          class="button quiet keys-button"
          title="Keys"
          aria-label="Show the keys"
          onClick={() => (keysShown.value = true)}
        >
          <kbd>?</kbd>
        </button>
        <button type="button" class="button quiet" title="Sign out" onClick={() => void signOut()}>
          <LeaveIcon />
          <span class="sign-out-word">Sign out</span>
        </button>
      </div>
    </div>
  )
}

/** What the token permits, in a few words. */
function rightsText(): string {
  const { scopes = null, services = null } = who.value ?? {}
  const rights = scopes === null ? 'All rights' : `Scope ${scopes.join(', ')}`
  return services === null ? rights : `${rights}; only ${services.join(', ')}`
}

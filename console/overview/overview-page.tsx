import type { VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { EventList } from '../event/event-list.tsx'
import { Link, link, recentEvents } from '../event/live.ts'
import { Page } from '../frame/page.tsx'
import { addressOf } from '../frame/place.ts'
import { CreateLink, NoInstances } from '../instance/list-page.tsx'
import { Mood, moodOf, moods, moodWords, stopText } from '../instance/mood.ts'
import type { Instance } from '../instance/mood.ts'
import { StateSign } from '../instance/state-sign.tsx'
import { areInstancesKnown, instances, moodCounts } from '../instance/store.ts'
import { Quotas } from './meters.tsx'

const shownEvents = 12
const shownFailures = 6

/** What runs, sleeps and fails, and what happens now. */
export function OverviewPage(): VNode {
  const isEmpty = areInstancesKnown.value && instances.value.size === 0
  return (
    <Page title="Overview" actions={mayOperate.value && !isEmpty ? <CreateLink /> : undefined}>
      {isEmpty ? <NoInstances /> : <Counts />}
      <Failures />
      <div class="columns">
        <Happenings />
        <Room />
      </div>
    </Page>
  )
}

function Counts(): VNode {
  const counts = moodCounts.value
  const known = areInstancesKnown.value
  return (
    <section class="card counts" aria-label="Instances by state" aria-busy={!known}>
      <div class="counts-row">
        {moods.map((mood) => (
          <a key={mood} class="count" href={`${addressOf('instances')}?state=${mood}`}>
            <span class={`state ${mood}`}>
              <span class="dot" />
              {moodWords[mood]}
            </span>
            <span class="count-number number">{known ? counts[mood] : '–'}</span>
          </a>
        ))}
      </div>
      <div class="share" aria-hidden="true">
        {moods.map((mood) => (
          <span key={mood} class={mood} style={{ flexGrow: counts[mood] }} />
        ))}
      </div>
    </section>
  )
}

function Failures(): VNode | null {
  const failing = [...instances.value.values()].filter((instance) => moodOf(instance) === Mood.Fails)
  if (failing.length === 0) return null
  const more = failing.length - shownFailures
  return (
    <section class="card" aria-labelledby="failing">
      <div class="card-head">
        <h2 id="failing">What fails</h2>
        {more > 0 && <a href={`${addressOf('instances')}?state=${Mood.Fails}`}>and {more} more</a>}
      </div>
      <ul class="failing card-body">
        {failing.slice(0, shownFailures).map((instance) => (
          <li key={instance.uuid}>
            <StateSign instance={instance} />
            <a href={addressOf('instances', instance.uuid)}>{instance.name}</a>
            <span class="soft">{failureText(instance)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function failureText(instance: Instance): string {
  return (
    instance.failure ??
    stopText(instance) ??
    'Its application ended by itself; its restart policy starts it again.'
  )
}

function Happenings(): VNode {
  const events = recentEvents.value.slice(0, shownEvents)
  return (
    <section class="card" aria-labelledby="happens">
      <div class="card-head">
        <h2 id="happens">What happens now</h2>
      </div>
      <div class="card-body happens">
        {events.length > 0 ? (
          <EventList events={events} />
        ) : (
          <p class="soft">
            {link.value === Link.Polling
              ? 'This token is limited to some services, and only a token for the whole account sees events.'
              : link.value === Link.Opening
                ? ' '
                : 'Nothing has happened yet. Starts, sleeps, wakes and failures show here as they happen.'}
          </p>
        )}
      </div>
    </section>
  )
}

const shownQuotas = [
  'instances',
  'live_instances',
  'live_memory_mb',
  'live_vcpus',
  'total_volume_mb',
  'registry_mb',
] as const

/** How much of its quotas the account uses. */
function Room(): VNode {
  return (
    <section class="card" aria-labelledby="room">
      <div class="card-head">
        <h2 id="room">Room in your account</h2>
        <a href={addressOf('account')}>All quotas</a>
      </div>
      <Quotas keys={shownQuotas} />
    </section>
  )
}

import type { VNode } from 'preact'
import { mayOperate, who } from '../account/session.ts'
import { EventList } from '../event/event-list.tsx'
import { Link, link, recentEvents } from '../event/live.ts'
import { Page } from '../frame/page.tsx'
import { addressOf } from '../frame/place.ts'
import { CreateLink, NoInstances } from '../instance/list-page.tsx'
import { Mood, moodOf, moods, moodWords, stopText } from '../instance/mood.ts'
import type { Instance } from '../instance/mood.ts'
import { StateSign } from '../instance/state-sign.tsx'
import { areInstancesKnown, instances, moodCounts } from '../instance/store.ts'
import { quotas } from './quotas.ts'

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

const meters = [
  ['instances', 'Instances', ''],
  ['live_instances', 'Not stopped', ''],
  ['live_memory_mb', 'Memory of those', 'MiB'],
  ['live_vcpus', 'Processors of those', ''],
  ['total_volume_mb', 'Volumes', 'MiB'],
  ['registry_mb', 'Images', 'MiB'],
] as const

const full = 0.9

/** How much of its quotas the account uses. */
function Room(): VNode {
  const { used, hard } = quotas.value ?? {}
  return (
    <section class="card" aria-labelledby="room">
      <div class="card-head">
        <h2 id="room">Room in your account</h2>
      </div>
      <dl class="card-body meters">
        {who.value?.services === null ? (
          meters.map(([key, label, unit]) => {
            const share =
              used === undefined || hard === undefined || hard[key] === 0 ? 0 : used[key] / hard[key]
            return (
              <div key={key} class="meter">
                <dt class="soft">{label}</dt>
                <dd class="number">
                  {used?.[key] ?? '–'}{' '}
                  <span class="faint">
                    of {hard?.[key] ?? '–'} {unit}
                  </span>
                </dd>
                <dd class="meter-bar" aria-hidden="true">
                  <span
                    class={share >= full ? 'meter-used full' : 'meter-used'}
                    style={{ width: `${Math.min(1, share) * 100}%` }}
                  />
                </dd>
              </div>
            )
          })
        ) : (
          <p class="soft">Only a token for the whole account sees its quotas.</p>
        )}
      </dl>
    </section>
  )
}

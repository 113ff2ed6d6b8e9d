import type { VNode } from 'preact'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { addressOf } from '../frame/place.ts'
import { clockTime, fullTime } from '../frame/time.ts'
import { instances } from '../instance/store.ts'
import { askerText, eventText, readable, shortName } from './event-text.ts'

/** Events, one per line. Their objects are links where a page shows them. */
export function EventList(props: {
  readonly events: readonly UserEvent[]
  /** Leaves out the object's name, on a page about that object. */
  readonly isOfOne?: boolean
}): VNode {
  return (
    <ol class="events">
      {props.events.map((event) => (
        <EventLine key={event.id} event={event} isOfOne={props.isOfOne === true} />
      ))}
    </ol>
  )
}

function EventLine({ event, isOfOne }: { readonly event: UserEvent; readonly isOfOne: boolean }): VNode {
  const { what, mood } = eventText(event)
  const asker = askerText(event)
  return (
    <li class="event">
      <time class="number faint small" dateTime={event.at} title={fullTime(event.at)}>
        {clockTime(event.at)}
      </time>
      <span class={`mark ${mood}`}>
        <span class="dot" />
      </span>
      <span>
        {!isOfOne && (
          <>
            <ObjectName event={event} />{' '}
          </>
        )}
        <span class={isOfOne ? 'event-what' : ''}>{what}</span>
        <span class="faint">
          {' '}
          · {readable(event.why)}
          {asker === undefined ? '' : `, ${asker}`}
        </span>
      </span>
    </li>
  )
}

function ObjectName({ event }: { readonly event: UserEvent }): VNode {
  const { type, uuid, name } = event.object
  if (type === 'instance' && uuid !== undefined && instances.value.has(uuid)) {
    return (
      <a class="event-name" href={addressOf('instances', uuid)}>
        {name}
      </a>
    )
  }
  return (
    <span>
      {type !== 'instance' && <span class="faint">{type} </span>}
      <span class="event-name">{shortName(name)}</span>
    </span>
  )
}

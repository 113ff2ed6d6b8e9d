import { useEffect, useMemo } from 'preact/hooks'
import type { VNode } from 'preact'
import { EventList } from '../event/event-list.tsx'
import { ObjectEvents } from '../event/object-events.ts'

const shownEvents = 8

/** The latest events of one object. */
export function LatestEvents(props: {
  readonly uuid: string
  /** The page with all of them. Absent: they can be shown here. */
  readonly all?: string
}): VNode {
  const events = useMemo(() => new ObjectEvents(props.uuid), [props.uuid])
  useEffect(() => void events.readMore(), [events])
  const all = events.all.value
  const isCut = props.all !== undefined && all.length > shownEvents
  return (
    <section class="card" aria-labelledby="latest">
      <div class="card-head">
        <h2 id="latest">Latest events</h2>
        {isCut && <a href={props.all}>All events</a>}
      </div>
      <div class="card-body latest">
        {events.problem.value === undefined ? (
          <EventList events={props.all === undefined ? all : all.slice(0, shownEvents)} isOfOne />
        ) : (
          <p class="soft">{events.problem.value}</p>
        )}
        {props.all === undefined && events.hasMore.value && (
          <button type="button" class="button" onClick={() => void events.readMore()}>
            Show earlier events
          </button>
        )}
      </div>
    </section>
  )
}

import { useEffect, useMemo } from 'preact/hooks'
import type { VNode } from 'preact'
import { EventList } from '../event/event-list.tsx'
import { ObjectEvents } from '../event/object-events.ts'

/** Everything that happened to an instance, as far as events are kept. */
export function Timeline({ uuid }: { readonly uuid: string }): VNode {
  const events = useMemo(() => new ObjectEvents(uuid), [uuid])
  useEffect(() => void events.readMore(), [events])
  return (
    <section class="card timeline" aria-label="Timeline" aria-busy={!events.isRead.value}>
      {events.problem.value !== undefined && (
        <p class="problem" role="alert">
          {events.problem.value}
        </p>
      )}
      <EventList events={events.all.value} isOfOne />
      {events.hasMore.value && (
        <button type="button" class="button" onClick={() => void events.readMore()}>
          Show earlier events
        </button>
      )}
    </section>
  )
}

import { AskerKind } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { eventObject } from '../event/write.ts'
import type { NewEvent } from '../event/write.ts'

/** What is told of a clone that autoscale gives back. */
export const retiredNews: News = {
  kind: UserEventKind.InstanceRetired,
  why: 'autoscale gives it back: it drains, stops and is deleted',
  asker: { by: AskerKind.Autoscale },
}

/** The events of clones that autoscale gives back. */
export function retiredEvents(
  userUuid: string,
  clones: readonly { readonly uuid: string; readonly name: string }[],
): readonly NewEvent[] {
  return clones.map((clone) => ({
    ...eventObject({ ...clone, userUuid }),
    ...retiredNews,
  }))
}

import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { AskerKind } from '../../domain/event/asker.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { Db } from '../schema/tables.ts'
import type { RolloutRow } from './row.ts'

export interface RolledService {
  readonly service: { readonly uuid: string; readonly name: string; readonly userUuid: string }
  readonly rollout: Pick<RolloutRow, 'uuid'>
}

/** Who causes what a rollout does. */
export function rolloutAsker(serviceName: string): Asker {
  return { by: AskerKind.Rollout, name: serviceName }
}

/** Writes an event of a service about its rollout. */
export async function tellRollout(
  db: Db,
  of: RolledService,
  news: Pick<News, 'from' | 'to' | 'why' | 'facts'> & { readonly asker?: Asker },
): Promise<void> {
  const { asker = rolloutAsker(of.service.name), facts, ...rest } = news
  await writeEvents(db, [
    {
      ...eventObject(of.service),
      kind: UserEventKind.ServiceRollout,
      ...rest,
      asker,
      facts: { rollout: of.rollout.uuid, ...facts },
    },
  ])
}

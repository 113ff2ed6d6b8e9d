import type { UpdateObject } from 'kysely'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { AskerKind } from '../../domain/event/asker.ts'
import type { RolloutPhase } from '../../domain/rollout/phase.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
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

/**
 * Writes the phase that a rollout enters, with the columns that change with it, and the event that tells why.
 */
export async function enterPhase(
  db: Db,
  of: RolledService & { readonly rollout: Pick<RolloutRow, 'uuid' | 'phase'> },
  to: RolloutPhase,
  {
    columns = {},
    ...news
  }: Pick<News, 'why' | 'facts'> & {
    readonly asker?: Asker
    readonly columns?: UpdateObject<Tables, 'rollouts', 'rollouts'>
  },
): Promise<void> {
  const { rollout } = of
  await db
    .updateTable('rollouts')
    .set({ phase: to, since: now, ...columns })
    .where('uuid', '=', rollout.uuid)
    .execute()
  await tellRollout(db, of, { from: rollout.phase, to, ...news })
}

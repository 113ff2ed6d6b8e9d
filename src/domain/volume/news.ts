import { AskerKind } from '../event/asker.ts'
import type { News } from '../event/news.ts'
import { UserEventKind } from '../event/user-event-kind.ts'
import type { VolumeEventKind, VolumeLife, VolumeLifeEvent } from './lifecycle.ts'

/**
 * What the owner of a volume is told about one decision of its life: every change of its phase. Nothing is
 * told of a life that readers see unchanged.
 */
export function volumeNews(before: VolumeLife, event: VolumeLifeEvent, after: VolumeLife): readonly News[] {
  if (before.revision === after.revision || before.phase === after.phase) return []
  const by = event.kind === 'repair' ? AskerKind.Operator : AskerKind.Host
  return [
    {
      kind: UserEventKind.VolumeState,
      from: before.phase,
      to: after.phase,
      why: 'reason' in event ? event.reason : (reasons[event.kind] ?? 'its host said so'),
      asker: { by },
    },
  ]
}

const reasons: Readonly<Partial<Record<VolumeEventKind, string>>> = {
  begin: 'its host makes it',
  made: 'its file system is made',
  repair: 'an operator asked for a check of all of it',
  repaired: 'nothing is wrong with it any more',
  'repair-not-begun': 'a VM has it, so nobody checked it',
}

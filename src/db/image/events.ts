import { AskerKind } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { isImageDigest, namespaceOf, publicImageReference } from '../../domain/image/reference.ts'
import type { Database } from '../database.ts'
import { writeEvents } from '../event/write.ts'

interface ImageChange {
  readonly kind: 'pushed' | 'deleted'
  readonly repository: string
  /** A tag or a digest. */
  readonly reference: string
  readonly digest: string
}

const kinds = { pushed: UserEventKind.ImagePushed, deleted: UserEventKind.ImageDeleted } as const

/**
 * Writes the event of a change in the registry. The registry has no transactions, so the event is written
 * when the registry has accepted the change. Nothing is written if the repository belongs to no user.
 */
export async function writeImageEvent({ db }: Database, change: ImageChange): Promise<void> {
  const { kind, repository, reference, digest } = change
  const user = await db
    .selectFrom('users')
    .select('uuid')
    .where('name', '=', namespaceOf(repository))
    .executeTakeFirst()
  if (user === undefined) return
  const named = isImageDigest(reference) ? { digest } : { tag: reference }
  await writeEvents(db, [
    {
      userUuid: user.uuid,
      objectName: publicImageReference({ repository, ...named }),
      kind: kinds[kind],
      why: kind === 'pushed' ? 'it was pushed to the registry' : 'its deletion was asked of the registry',
      asker: { by: AskerKind.Token },
      facts: { digest },
    },
  ])
}

import type { FailedEntry } from '../../contract/envelope.ts'
import type { deleteHostInvitations, getHostInvitations } from '../../contract/host/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { Target } from '../../contract/request/parsed-request.ts'
import { openInvitations, takeInvitationBack } from '../../db/host/joining.ts'
import type { OpenInvitation } from '../../db/host/joining.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { timestamp } from '../timestamp.ts'

/** The word for invitations in messages. */
const invitationKind = 'invitation'

/**
 * The named open invitations, or all of them. To an account that is not an administrator's it looks as if
 * there were none.
 */
export function invitationsStatus(deps: ApiDeps): Handler<typeof getHostInvitations> {
  return async ({ objects }, call) => {
    const open = call.identity.admin ? await openInvitations(deps.database) : []
    if (objects.length === 0) return { entries: open.map(presentInvitation) }
    const byName = new Map(open.map((invitation) => [invitation.hostId, invitation]))
    return {
      entries: objects.flatMap(({ target }) => {
        if (target === undefined) return []
        const invitation = byName.get(target.value)
        return invitation === undefined
          ? missingEntry(invitationKind, target)
          : { status: 'success' as const, ...presentInvitation(invitation) }
      }),
    }
  }
}

/** The view of an invitation. Its secret is known to nobody but whoever has the token. */
function presentInvitation(invitation: OpenInvitation): OperationEntry<typeof getHostInvitations> {
  const { hostId, roles, createdAt, expiresAt } = invitation
  return {
    name: hostId,
    roles: [...roles],
    created_at: timestamp(createdAt),
    expires_at: timestamp(expiresAt),
  }
}

export function invitationsDelete(deps: ApiDeps): Handler<typeof deleteHostInvitations> {
  return async ({ objects }, call) => {
    const entries = []
    for (const { target } of objects)
      if (target !== undefined) entries.push(await takeBack(deps, call, target))
    return { entries }
  }
}

async function takeBack(
  { database }: ApiDeps,
  call: Call,
  target: Target,
): Promise<OperationEntry<typeof deleteHostInvitations> | FailedEntry> {
  const name = target.value
  if (!call.identity.admin || !(await takeInvitationBack(database, name)))
    return missingEntry(invitationKind, target)
  call.log.info({ host: name, asker: call.asker.name }, 'an invitation was taken back')
  return { status: 'success', name }
}

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { HostRole } from '../../domain/host/role.ts'

/** An invitation for one machine to join the installation. */
export const HostInvitation = defineEntity({
  name: 'HostInvitation',
  tableName: 'host_invitations',
  properties: {
    /** The hash of the secret in the token. The token itself is not stored. */
    secretSha256: p.text().primary(),
    /** The id that the host will have. */
    hostId: p.text(),
    /** What the machine will do besides running instances. */
    roles: p.json<readonly HostRole[]>().defaultRaw("'[]'"),
    createdAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3),
    /** When a machine joined with it. It admits no other one. */
    usedAt: p.datetime(3).nullable(),
    /** The public key (SHA-256) of the machine that joined with it, which may ask again if no answer came. */
    usedByKey: p.text().nullable(),
  },
})

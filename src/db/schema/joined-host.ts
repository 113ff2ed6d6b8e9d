import { defineEntity, p } from '@mikro-orm/postgresql'
import type { HostRole, RoleKeys } from '../../domain/host/role.ts'

/** A machine that joined and was not removed. Only such machines are let in by their certificates. */
export const JoinedHost = defineEntity({
  name: 'JoinedHost',
  tableName: 'joined_hosts',
  properties: {
    hostId: p.text().primary(),
    /** The hash of its agent's public key. Certificates for this host with other keys are not accepted. */
    keySha256: p.text(),
    /** What the machine does besides running instances. */
    roles: p.json<readonly HostRole[]>().defaultRaw("'[]'"),
    /** The hash of the public key of the part of each role. */
    roleKeys: p.json<RoleKeys>().defaultRaw("'{}'"),
    joinedAt: p.datetime(3).defaultRaw('now()'),
  },
})

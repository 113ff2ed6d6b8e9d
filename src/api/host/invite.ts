import type { Static } from 'typebox'
import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { inviteHosts } from '../../contract/host/operations.ts'
import type { invitationBody } from '../../contract/host/responses.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { inviteHost } from '../../db/host/joining.ts'
import { HostRole } from '../../domain/host/role.ts'
import { hostAndPort } from '../../domain/host-and-port.ts'
import { hostIdRule, isHostId } from '../../domain/part-name.ts'
import { newJoinSecret, writeJoinToken } from '../../trust/join-token.ts'
import { fingerprintOf } from '../../trust/part-authority.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { timestamp } from '../timestamp.ts'

type Entry = OperationEntry<typeof inviteHosts> | FailedEntry

/** Invites machines to join the installation as hosts. */
export function hostsInvite(deps: ApiDeps): Handler<typeof inviteHosts> {
  return async ({ objects }, call) => {
    if (!call.identity.admin) throw requestError('administratorNeeded')
    const names = objects.map(({ parameters }) => parameters.name)
    const problems = names.flatMap((value) =>
      value === undefined || isHostId(value) ? [] : [problem('invalidHostId', { value, rule: hostIdRule })],
    )
    if (problems.length > 0) throw new RequestError(problems)
    const entries: Entry[] = []
    for (const { parameters } of objects) {
      const entry = await inviteOne(deps, parameters)
      entries.push(entry)
      if (!('token' in entry)) continue
      const { name, roles } = entry
      call.log.info({ host: name, roles, asker: call.asker.name }, 'a host was invited')
    }
    return { entries }
  }
}

async function inviteOne(
  { database, authority, settings }: ApiDeps,
  { name, roles = [] }: Static<typeof invitationBody>,
): Promise<Entry> {
  const { hostsAddress } = settings
  if (hostsAddress === undefined || authority === undefined)
    return unmadeEntry(problem('noHostsAddress'), name)
  const hindered = roles.map((role) => ({ role, lacking: lackingServices(role, settings) }))
  const hindrance = hindered.find(({ lacking }) => lacking.length > 0)
  if (hindrance !== undefined) {
    const { role, lacking } = hindrance
    return unmadeEntry(problem('roleNeedsServices', { role, settings: lacking.join(', ') }), name)
  }
  const secret = newJoinSecret()
  const invited = await inviteHost(database, { hostId: name, secret, roles })
  if (invited === undefined) return unmadeEntry(problem('hostIdTaken', { value: name ?? '' }), name)
  return {
    status: 'success',
    name: invited.hostId,
    roles: [...roles],
    address: hostAndPort(hostsAddress),
    token: writeJoinToken({ secret, fingerprint: fingerprintOf(authority.chain) }),
    expires_at: timestamp(invited.expiresAt),
  }
}

/** The settings of services that a part with this role needs, and that other machines do not reach. */
function lackingServices(role: HostRole, { servicesHereAlone = [] }: ApiDeps['settings']): readonly string[] {
  if (role === HostRole.Api) return servicesHereAlone
  return role === HostRole.Worker ? servicesHereAlone.filter((name) => name !== registrySetting) : []
}

/** Workers speak to no registry. */
const registrySetting = 'ROOST_REGISTRY_URL'

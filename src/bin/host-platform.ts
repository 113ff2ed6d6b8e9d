import { roostVersion } from '../domain/roost-version.ts'
import { hostParts } from '../launch/host/host-parts.ts'
import { identityDirectory, readJoinedHost } from '../launch/host/joined-host.ts'
import { ownCheckout } from '../launch/own-checkout.ts'
import { supervisedParts } from '../launch/parts/supervised-part.ts'
import type { Platform, PlatformProcess } from '../launch/platform.ts'
import { readSettings } from '../settings/settings.ts'
import { JoinFailure } from '../trust/join-client.ts'
import { readIdentity } from '../trust/kept-identity.ts'
import { controlOf, gatewayOf, openDoor } from './joined-parts.ts'

/** A machine that joined as a platform: the agent and the parts of its roles. */
export async function openHost(platformProcess: PlatformProcess): Promise<Platform> {
  const { environment, log, closing } = platformProcess
  const settings = readSettings(environment)
  const { dataDir, agentDir, agentPort } = settings
  const joined = await readJoinedHost(dataDir)
  if (joined === undefined) throw new JoinFailure('this machine has not joined an installation')
  const identity = await readIdentity(identityDirectory(dataDir))
  if (identity === undefined) throw new JoinFailure(`${identityDirectory(dataDir)} is incomplete: join again`)
  const door = await openDoor(joined, { dataDir, log })
  try {
    const context = { apiAt: door.address, identity, log, signal: closing }
    const gateway = await gatewayOf(settings, joined, context)
    const control = await controlOf(settings, joined, context)
    const parts = hostParts({
      joined,
      apiAt: door.address,
      identity,
      dataDir,
      agentDir,
      agentPort,
      ...(gateway && { gateway }),
      ...(control && { control }),
    })
    return {
      version: roostVersion,
      checkout: ownCheckout,
      parts: supervisedParts(parts, platformProcess),
      prepare: async () => undefined,
      welcome: () => `This machine is host '${joined.hostId}' of ${joined.controlPlane}. Ctrl-C stops it.\n`,
      release: async () => await door.close(),
      finish: async () => undefined,
    }
  } catch (error) {
    await door.close()
    throw error
  }
}

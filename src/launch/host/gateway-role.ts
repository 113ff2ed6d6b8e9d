import { mkdir } from 'node:fs/promises'
import { ownCheckout, ownNode } from '../own-checkout.ts'
import { canConfine, confine } from '../parts/part-confinement.ts'
import type { Confinement } from '../parts/part-confinement.ts'
import { ensureUser, giveTree, PartUser } from '../parts/part-users.ts'
import { makePassable } from '../parts/roost-confinements.ts'
import { gatewayIdentityDirectory } from './joined-host.ts'

/**
 * Makes the user of the gateway on a machine that joined, gives it the gateway's directory, and returns what
 * the gateway may do. Undefined if the machine can not run it as another user.
 */
export async function confineGateway(place: {
  readonly dataDir: string
  readonly gatewayDir: string
}): Promise<Confinement | undefined> {
  const { dataDir, gatewayDir } = place
  if (!canConfine()) return undefined
  const user = await ensureUser(PartUser.Gateway)
  await makePassable(dataDir)
  await mkdir(gatewayDir, { recursive: true })
  await giveTree(gatewayDir, user)
  // A join makes this directory anew as root.
  await giveTree(gatewayIdentityDirectory(gatewayDir), user)
  const node = { program: ownNode, reads: [ownCheckout] }
  return await confine({ ...node, user, capabilities: ['net_bind_service'], own: [gatewayDir] })
}

import { exchangeParts } from '../launch/upgrade/exchange.ts'
import type { TakeOver } from '../launch/upgrade/next-version.ts'
import { moveHostService } from '../launch/host/host-service.ts'
import { ownCheckout, ownNode } from '../launch/own-checkout.ts'
import type { OpenPlatform, Platform, PlatformProcess } from '../launch/platform.ts'
import { readSettings } from '../settings/settings.ts'
import type { PlatformKind } from '../launch/upgrade/next-version.ts'
import { openHost } from './host-platform.ts'
import { openStack } from './stack-platform.ts'

const open: Readonly<Record<PlatformKind, OpenPlatform>> = { stack: openStack, host: openHost }

/** What runs is of this version already, so a service that can not be changed is only told of. */
async function moveService({ environment }: PlatformProcess, say: (text: string) => void): Promise<void> {
  const { dataDir } = readSettings(environment)
  await moveHostService({ dataDir, checkout: ownCheckout, node: ownNode }).catch((error: unknown) =>
    say(
      `the service still starts the version before: ${error instanceof Error ? error.message : String(error)}`,
    ),
  )
}

/**
 * The process that runs the platform has loaded this version, which takes over from the one that runs
 * (`NextVersion`). It is not called by this version's own code.
 */
export async function takeOver({ kind, before, platformProcess, adopt, say }: TakeOver): Promise<Platform> {
  const platform = await open[kind](platformProcess)
  adopt(platform.parts)
  try {
    await platform.prepare()
    await exchangeParts(before, platform.parts, { say, closing: platformProcess.closing })
    if (kind === 'host') await moveService(platformProcess, say)
  } catch (error) {
    await platform.release()
    throw error
  }
  return platform
}

import { UpgradeState } from '../domain/host/upgrade.ts'
import { roostVersion } from '../domain/roost-version.ts'
import { exchangeParts, reasonOf } from '../launch/upgrade/exchange.ts'
import { UpgradeRecord } from '../launch/upgrade/upgrade-record.ts'
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
export async function takeOver({
  kind,
  from,
  before,
  platformProcess,
  adopt,
  say,
}: TakeOver): Promise<Platform> {
  const { environment, log, closing } = platformProcess
  const record = new UpgradeRecord({
    agentDir: readSettings(environment).agentDir,
    upgrade: { ...(from !== undefined && { from }), to: roostVersion },
    log,
  })
  await record.begin()
  try {
    const platform = await open[kind](platformProcess)
    adopt(platform.parts)
    try {
      await platform.prepare()
      await exchangeParts(before, platform.parts, {
        say,
        closing,
        onStep: async (step) => await record.step(step),
      })
      if (kind === 'host') await moveService(platformProcess, say)
    } catch (error) {
      await platform.release()
      throw error
    }
    await record.end(UpgradeState.Done)
    return platform
  } catch (error) {
    await (closing.aborted
      ? record.end(UpgradeState.CutOff)
      : record.end(UpgradeState.WentBack, reasonOf(error, 'nothing could be exchanged')))
    throw error
  }
}

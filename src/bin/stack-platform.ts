import type { Logger } from 'pino'
import path from 'node:path'
import { roostVersion } from '../domain/roost-version.ts'
import { requireShareable } from '../db/schema/migrate.ts'
import { prepareDatabase } from '../launch/first-start.ts'
import { readInstalled } from '../launch/installed.ts'
import { ownCheckout } from '../launch/own-checkout.ts'
import { supervisedParts } from '../launch/parts/supervised-part.ts'
import type { Platform, PlatformProcess } from '../launch/platform.ts'
import { seedImages } from '../launch/services/seed-images.ts'
import { planStack } from '../launch/stack-plan.ts'
import { welcome } from '../launch/welcome.ts'
import { readTemporalPlace } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'

/** The embedded stack as a platform: everything on one machine. */
export async function openStack(platformProcess: PlatformProcess): Promise<Platform> {
  const { environment, log, takesOver } = platformProcess
  const settings = readSettings(environment)
  const temporal = settings.temporalAddress === undefined ? undefined : await readTemporalPlace(settings)
  const plan = await planStack(settings, readInstalled(), {
    takesOver,
    temporal,
    people: personBehind(environment),
    afterDatabase: (url) => prepareDatabase({ url, tokenFile: path.join(settings.dataDir, 'token') }),
    afterApi: (addresses) => seed(settings, addresses.registryUrl, log),
  })
  if (platformProcess.enterGroup === undefined && !takesOver) log.info(noGroup)
  const onProblem = (message: string, error: unknown) => log.warn({ err: error }, message)
  const released = new AbortController()
  return {
    version: roostVersion,
    checkout: ownCheckout,
    parts: supervisedParts(plan.parts, platformProcess),
    async prepare() {
      if (takesOver) await requireShareable(plan.addresses.databaseUrl)
      await plan.closeTemporal(onProblem)
      await plan.keepCopies(onProblem, released.signal)
      await plan.prepareGivenServices()
    },
    welcome: () => welcome(settings, plan.addresses),
    async release() {
      released.abort()
    },
    finish: async () => await plan.reopenTemporal(),
  }
}

const noGroup =
  'the parts of the stack have no control group of their own: docs/operations.md says when they have one, and what to set where they have none'

/** The user who called sudo to start the stack. */
function personBehind(env: NodeJS.ProcessEnv): readonly number[] {
  const uid = Number(env['SUDO_UID'])
  return Number.isInteger(uid) && uid > 0 ? [uid] : []
}

/**
 * Pushes the samples. If that fails, it only warns: the stack is useful without the samples, and a registry
 * that is not the stack's own may not accept its tokens.
 */
async function seed(settings: Settings, registryUrl: string, log: Logger): Promise<void> {
  const { sampleImages } = readInstalled()
  if (sampleImages === undefined) return
  try {
    const pushed = await seedImages({ ...settings, registryUrl, directory: sampleImages })
    if (pushed.length > 0) log.info({ pushed }, 'official images are in the registry')
  } catch (error) {
    log.warn({ err: error }, 'the official images could not be pushed')
  }
}

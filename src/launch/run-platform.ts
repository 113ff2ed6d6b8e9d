import path from 'node:path'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { endOfFailedStart, endSentence, onFirstEndSignal } from './end-signals.ts'
import { countVirtualMachines, settleVirtualMachines } from './parts/left-virtual-machines.ts'
import type { StackLog } from './parts/part-log.ts'
import { endStaleProcesses } from './parts/stale-processes.ts'
import { supervise } from './parts/supervisor.ts'
import type { Supervisor } from './parts/supervisor.ts'
import type { OpenPlatform, Platform, PlatformProcess } from './platform.ts'
import { UpgradeFailure } from './upgrade/exchange.ts'
import { loadNextVersion } from './upgrade/next-version.ts'
import type { PlatformKind } from './upgrade/next-version.ts'
import { endLeftUpgrade } from './upgrade/upgrade-record.ts'
import { openUpgradeDoor } from './upgrade/upgrade-door.ts'
import type { UpgradeDoor } from './upgrade/upgrade-door.ts'

export interface RunPlatformOptions {
  readonly kind: PlatformKind
  readonly open: OpenPlatform
  /** The environment of the parts. Its paths are whole: the directory of this process may change. */
  readonly environment: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly agentDir: string
  readonly stackLog: StackLog
  readonly enterGroup?: ((pid: number) => void) | undefined
}

/**
 * Runs the platform of this machine until a signal ends it (`endSignals`). Meanwhile other versions may take
 * over. The caller holds the lock of the data directory.
 */
export async function runPlatform(options: RunPlatformOptions): Promise<void> {
  const { kind, open, dataDir, agentDir, enterGroup } = options
  const { log, onLine, quieten } = options.stackLog
  const runDirectory = path.join(dataDir, 'run')
  const ended = await endStaleProcesses(runDirectory)
  if (ended.length > 0) log.warn({ ended }, 'ended what an earlier platform had left running')
  await endLeftUpgrade(agentDir, log)
  const foundVms = countVirtualMachines(agentDir)
  const closing = new AbortController()
  let end = endOfFailedStart(foundVms)
  const interrupted = Promise.withResolvers<void>()
  onFirstEndSignal((how, signal) => {
    log.info(endSentence(signal, countVirtualMachines(agentDir)))
    quieten()
    end = how
    closing.abort()
    interrupted.resolve()
  })
  const given: PlatformProcess = {
    environment: { ...options.environment, ROOST_DATA_DIR: path.resolve(dataDir) },
    runDirectory,
    log,
    onLine,
    enterGroup,
    closing: closing.signal,
    takesOver: false,
  }
  const first = await open(given)
  const supervisor = supervise(first.parts, closing)
  const versions = new Versions({ kind, given, supervisor, first })
  let door: UpgradeDoor | undefined
  try {
    await first.prepare()
    await Promise.race([supervisor.start(), interrupted.promise])
    if (closing.signal.aborted) return
    door = await openUpgradeDoor(
      runDirectory,
      async (checkout, say) => await versions.upgrade(checkout, say),
    ).catch((error: unknown) => {
      log.warn(
        { err: error },
        'no other version can take over from this one, because its socket can not be made',
      )
      return undefined
    })
    process.stdout.write(first.welcome())
    await interrupted.promise
  } catch (error) {
    if (closing.signal.aborted) return
    quieten()
    throw error
  } finally {
    await door?.close()
    await supervisor.stop(end)
    await versions.close()
    await settleVirtualMachines(agentDir, end, log)
    log.info('stopped')
  }
}

/**
 * When the version before lets go what it keeps open beside its parts. A gateway that handed over may use it
 * for as long as it leaves.
 */
const releaseAfterMs = 40_000

/** How long the end of the platform waits for an upgrade that it has cut off. */
const upgradeEndMs = 10_000

/** The version that runs, and those that ran before. */
class Versions {
  #now: Platform
  readonly #kind: PlatformKind
  readonly #given: PlatformProcess
  readonly #supervisor: Supervisor
  readonly #loaded = new Set<string>()
  /** Resolves when the upgrade that was begun last is over, however it ended. */
  #upgrading: Promise<unknown> = Promise.resolve()
  readonly #releases = new Set<Promise<void>>()

  constructor(of: {
    readonly kind: PlatformKind
    readonly given: PlatformProcess
    readonly supervisor: Supervisor
    readonly first: Platform
  }) {
    this.#kind = of.kind
    this.#given = of.given
    this.#supervisor = of.supervisor
    this.#now = of.first
    this.#loaded.add(of.first.checkout)
  }

  /** Lets the version in `checkout` take over. Returns which it is. */
  async upgrade(checkout: string, say: (text: string) => void): Promise<string> {
    const upgrade = this.#upgrade(checkout, say)
    this.#upgrading = upgrade.catch(() => undefined)
    return await upgrade
  }

  /** Called once all parts have been told to end. */
  async close(): Promise<void> {
    await Promise.race([this.#upgrading, delay(upgradeEndMs, undefined, { ref: false })])
    await Promise.all(this.#releases)
    await this.#now.release()
    await this.#now.finish()
  }

  async #upgrade(checkout: string, sayTo: (text: string) => void): Promise<string> {
    const { log, closing } = this.#given
    const say = (text: string): void => {
      log.info(`upgrade: ${text}`)
      sayTo(text)
    }
    const before = this.#now
    try {
      closing.throwIfAborted()
      const next = await loadNextVersion(checkout, this.#loaded)
      this.#loaded.add(checkout)
      say(`the version in ${checkout} takes over from ${before.version} in ${before.checkout}`)
      this.#now = await next.takeOver({
        kind: this.#kind,
        from: before.version,
        before: before.parts,
        platformProcess: { ...this.#given, takesOver: true },
        adopt: (parts) => this.#supervisor.adopt(parts),
        say,
      })
    } catch (error) {
      log.error({ err: error }, 'the upgrade failed')
      if (error instanceof Error && error.name === UpgradeFailure.name) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new UpgradeFailure(`the upgrade failed: ${why}`, { cause: error })
    }
    this.#releaseLater(before)
    // The directory of the version before may be removed from now on.
    process.chdir(checkout)
    return this.#now.version
  }

  #releaseLater(before: Platform): void {
    const { closing, log } = this.#given
    const release = delay(releaseAfterMs, undefined, { signal: closing, ref: false })
      .catch(() => undefined)
      .then(async () => await before.release())
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the version before could not let go of everything'),
      )
      .finally(() => this.#releases.delete(release))
    this.#releases.add(release)
  }
}

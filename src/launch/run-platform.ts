import path from 'node:path'
import process from 'node:process'
import type { Logger } from 'pino'
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
import { openUpgradeDoor } from './upgrade/upgrade-door.ts'
import type { UpgradeDoor } from './upgrade/upgrade-door.ts'

export interface RunPlatformOptions {
  readonly kind: PlatformKind
  readonly open: OpenPlatform
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
    environment: { ...process.env, ROOST_DATA_DIR: path.resolve(dataDir) },
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
    door = await openUpgradeDoor(runDirectory, async (checkout, say) => await versions.upgrade(checkout, say))
    process.stdout.write(first.welcome())
    await interrupted.promise
  } catch (error) {
    if (closing.signal.aborted) return
    quieten()
    throw error
  } finally {
    await door?.close()
    await supervisor.stop(end)
    await versions.now.release()
    await versions.now.finish()
    await settleVirtualMachines(agentDir, end, log)
    log.info('stopped')
  }
}

/** The version that runs, and those that ran before. */
class Versions {
  now: Platform
  readonly #kind: PlatformKind
  readonly #given: PlatformProcess
  readonly #supervisor: Supervisor
  readonly #log: Logger
  readonly #loaded = new Set<string>()

  constructor(of: {
    readonly kind: PlatformKind
    readonly given: PlatformProcess
    readonly supervisor: Supervisor
    readonly first: Platform
  }) {
    this.#kind = of.kind
    this.#given = of.given
    this.#supervisor = of.supervisor
    this.#log = of.given.log
    this.now = of.first
    this.#loaded.add(of.first.checkout)
  }

  /** Lets the version in `checkout` take over. Returns which it is. */
  async upgrade(checkout: string, sayTo: (text: string) => void): Promise<string> {
    const say = (text: string): void => {
      this.#log.info(`upgrade: ${text}`)
      sayTo(text)
    }
    const before = this.now
    try {
      const next = await loadNextVersion(checkout, this.#loaded)
      this.#loaded.add(checkout)
      say(`the version in ${checkout} takes over from ${before.version} in ${before.checkout}`)
      this.now = await next.takeOver({
        kind: this.#kind,
        before: before.parts,
        platformProcess: { ...this.#given, takesOver: true },
        adopt: (parts) => this.#supervisor.adopt(parts),
        say,
      })
    } catch (error) {
      this.#log.error({ err: error }, 'the upgrade failed')
      if (error instanceof UpgradeFailure) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new UpgradeFailure(`the upgrade failed: ${why}`, { cause: error })
    }
    await before.release()
    // The directory of the version before may be removed from now on.
    process.chdir(checkout)
    return this.now.version
  }
}

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { upgradeFileName } from '../../domain/host/upgrade-file.ts'
import { UpgradeState, isUnderWay, readHostUpgrade } from '../../domain/host/upgrade.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import { parseJson } from '../../domain/json-text.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { ExchangeStep } from './exchange.ts'

/** The agent may have a user of its own, and the file has no secret. */
const mode = 0o644

/**
 * Keeps on disk how an upgrade goes, for the agent of this machine, whichever version that is of at the
 * moment. It never throws: an upgrade goes on although nobody can be told.
 */
export class UpgradeRecord {
  readonly #file: string
  readonly #log: Logger
  #upgrade: HostUpgrade

  constructor(of: {
    readonly agentDir: string
    readonly upgrade: Pick<HostUpgrade, 'from' | 'to'>
    readonly log: Logger
  }) {
    this.#file = fileIn(of.agentDir)
    this.#log = of.log
    this.#upgrade = { ...of.upgrade, state: UpgradeState.Exchanging, beganAtMs: Date.now() }
  }

  async begin(): Promise<void> {
    await this.#write(this.#upgrade)
  }

  async step({ why, ...progress }: ExchangeStep): Promise<void> {
    const state = why === undefined ? UpgradeState.Exchanging : UpgradeState.GoingBack
    await this.#write({ ...this.#upgrade, state, progress, ...(why !== undefined && { why }) })
  }

  async end(state: UpgradeState, why?: string): Promise<void> {
    await this.#write(ended(this.#upgrade, state, why))
  }

  async #write(upgrade: HostUpgrade): Promise<void> {
    this.#upgrade = upgrade
    await replaceFile(this.#file, JSON.stringify(upgrade), { mode }).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'how the upgrade goes can not be told'),
    )
  }
}

/** Notes that an upgrade was cut off, if the process that made it was killed. */
export async function endLeftUpgrade(agentDir: string, log: Logger): Promise<void> {
  const file = fileIn(agentDir)
  const text = await readFile(file, 'utf8').catch(() => '')
  const left = readHostUpgrade(parseJson(text))
  if (left === undefined || !isUnderWay(left)) return
  const upgrade = ended(left, UpgradeState.CutOff)
  await replaceFile(file, JSON.stringify(upgrade), { mode }).catch((error: unknown) =>
    log.warn({ err: error }, 'the end of an earlier upgrade can not be told'),
  )
}

function ended(before: HostUpgrade, state: UpgradeState, why?: string): HostUpgrade {
  const { progress: _, ...upgrade } = before
  return { ...upgrade, state, endedAtMs: Date.now(), ...(why !== undefined && { why }) }
}

function fileIn(agentDir: string): string {
  return path.join(agentDir, upgradeFileName)
}

import { setTimeout as delay } from 'node:timers/promises'
import { Dice } from '../sim/dice.ts'
import { watchVirtualMachines } from '../support/virtual-machine-watch.ts'
import type { ChaosScene } from './chaos-scene.ts'
import { LedgerClient } from './client.ts'
import { disturbanceNames, disturbances } from './disturbances.ts'
import type { DisturbanceName } from './disturbances.ts'
import { beginFleet, ledgerNames } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { Operator } from './operator.ts'
import { SessionClient, openLines, openSocket } from './sessions.ts'
import { verifyAllIsWell } from './verdict.ts'

export interface ChaosOptions {
  readonly ms: number
  readonly seed: number
  /** What may happen. Default: everything. */
  readonly only?: readonly DisturbanceName[]
  readonly say: (text: string) => void
}

const calmMs = { least: 2_000, most: 8_000 }

/**
 * One run: traffic, operations and disturbances, and then the verdict. Throws what was promised and not
 * kept.
 */
export class ChaosRun {
  readonly #scene: ChaosScene
  readonly #options: ChaosOptions
  readonly #happened = new Map<DisturbanceName, number>()
  #clients: readonly LedgerClient[] = []
  #sessions: readonly SessionClient[] = []
  #operator: Operator | undefined

  constructor(scene: ChaosScene, options: ChaosOptions) {
    this.#scene = scene
    this.#options = options
  }

  async play(): Promise<void> {
    const { seed, say } = this.#options
    const fleet = await beginFleet(this.#scene)
    say('all instances answer; the run begins')
    const { names } = this.#scene
    this.#clients = ledgerNames.map((name) => {
      const { publicName, hasVolume: isKept } = fleet.ledgers[name]
      return new LedgerClient(names, { name, publicName, isKept })
    })
    this.#sessions = [
      new SessionClient('the WebSocket', async () => await openSocket(names, fleet.talker.host)),
      new SessionClient('the connection of lines', async () => await openLines(names, fleet.talker.host)),
    ]
    const operator = new Operator(this.#scene, fleet, say)
    this.#operator = operator
    const watch = watchVirtualMachines(...Object.values(this.#scene.dataDirs))
    try {
      // Each has dice of its own, so that the seed decides what each does, however long the others take.
      operator.begin(new Dice(seed + 1))
      await this.#disturb(new Dice(seed))
      await operator.end()
      say('nothing happens any more')
      await this.#settle(fleet, operator)
    } finally {
      await watch.close()
      await Promise.all([...this.#clients, ...this.#sessions].map(async (one) => await one.end()))
    }
    watch.verify()
    const broken = [
      ...operator.broken,
      ...this.#clients.flatMap(({ ledger }) => ledger.broken),
      ...this.#sessions.flatMap((one) => one.broken),
    ]
    if (broken.length > 0) throw new Error(`promises were broken:\n  ${broken.join('\n  ')}`)
  }

  /** What the run was, in words. */
  tell(): string {
    const happened = [...this.#happened].map(([what, times]) => `${what}: ${times}`).join(', ')
    const asked = [...(this.#operator?.counts ?? [])].map(([what, times]) => `${what}: ${times}`).join(', ')
    return [
      `what happened: ${happened}`,
      `operations: ${asked}`,
      ...this.#clients.map(
        ({ counts, ledger }, index) =>
          `${ledgerNames[index]}: ${counts.answered} answers of ${ledger.boots} boots, ${counts.refused} refused, ` +
          `${counts.broken} broken, ${ledger.files.size} files kept, ${(counts.longestSilenceMs / 1_000).toFixed(1)} s without an answer at most`,
      ),
      ...['WebSocket', 'lines'].map(
        (what, index) =>
          `${what}: ${this.#sessions[index]?.answered ?? 0} answers, opened again ${this.#sessions[index]?.breaks ?? 0} times`,
      ),
    ].join('\n')
  }

  async #disturb(dice: Dice): Promise<void> {
    const { ms, only = disturbanceNames, say } = this.#options
    const endMs = performance.now() + ms
    while (performance.now() < endMs) {
      await delay(dice.between(calmMs.least, calmMs.most))
      const name = dice.pick(only)
      this.#happened.set(name, (this.#happened.get(name) ?? 0) + 1)
      await disturbances[name](this.#scene, dice, say)
    }
  }

  async #settle(fleet: Fleet, operator: Operator): Promise<void> {
    const isStopped = (client: LedgerClient) =>
      operator.stopped.has(ledgerNames[this.#clients.indexOf(client)]!)
    // Who sleeps is not asked any more, because every question wakes it.
    await Promise.all(this.#clients.map(async (client) => await client.end()))
    await verifyAllIsWell(this.#scene, fleet, operator)
    await Promise.all(
      this.#clients.filter((one) => !isStopped(one)).map(async (client) => await client.verify()),
    )
  }
}

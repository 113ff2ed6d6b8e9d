import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeInstance } from '../../domain/host/api-protocol.ts'
import { sumOfSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import { addToUsageFile, readUsageFile } from './usage-file.ts'
import type { Shares } from './usage-file.ts'

/** How long the history of a service stays when its last instance is gone from this host. */
const keptAfterMs = 3_600_000
const suffix = '.ring'
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The history of what all instances of a service used on this host together, in a file per service. It stays
 * when instances go, so that one can see what a service needed before autoscale gave clones back.
 */
export class ServiceUsage {
  readonly #directory: string
  readonly #nowMs: () => number
  readonly #list: () => Promise<readonly NodeInstance[]>
  #isAsking = false
  /** The service of each instance, as the API last listed them. Undefined before the first list. */
  #services: ReadonlyMap<string, string | undefined> | undefined
  /** What was sampled in this pass over the instances, by service. */
  readonly #sampled = new Map<string, Shares[]>()

  /** `list` asks the API which instances belong on this host, and of which services they are. */
  constructor(options: {
    readonly agentDirectory: string
    readonly nowMs: () => number
    readonly list: () => Promise<readonly NodeInstance[]>
  }) {
    this.#directory = join(options.agentDirectory, 'service-usage')
    this.#nowMs = options.nowMs
    this.#list = options.list
  }

  /** Takes the list of the instances that belong on this host. */
  heard(listed: readonly NodeInstance[]): void {
    this.#services = new Map(listed.map(({ uuid, serviceUuid }) => [uuid, serviceUuid ?? undefined]))
  }

  add(instanceUuid: string, shares: Shares): void {
    if (this.#services?.has(instanceUuid) !== true) this.#ask()
    const serviceUuid = this.#services?.get(instanceUuid)
    if (serviceUuid === undefined) return
    this.#sampled.set(serviceUuid, [...(this.#sampled.get(serviceUuid) ?? []), shares])
  }

  /** Writes what was sampled in this pass. */
  async write(): Promise<void> {
    const sampled = [...this.#sampled]
    this.#sampled.clear()
    if (sampled.length > 0) await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    for (const [serviceUuid, shares] of sampled) {
      const of = (step: UsageStep) => sumOfSteps(shares.map((each) => each[step]))
      await addToUsageFile(this.#path(serviceUuid), { '5s': of('5s'), '5m': of('5m') })
    }
  }

  async read(serviceUuid: string, step: UsageStep): Promise<readonly StepUsage[]> {
    return await readUsageFile(this.#path(serviceUuid), step, this.#nowMs())
  }

  /** Deletes the files of services that have had no instance on this host for some time. */
  async sweep(): Promise<void> {
    if (this.#services === undefined) return
    const present = new Set(this.#services.values())
    const names = await readdir(this.#directory).catch(() => [])
    for (const name of names) {
      if (present.has(name.slice(0, -suffix.length))) continue
      const path = join(this.#directory, name)
      const changed = await stat(path).catch(() => undefined)
      if (changed !== undefined && this.#nowMs() - changed.mtimeMs > keptAfterMs) await rm(path)
    }
  }

  /** Asks for the service of a new instance. No sample waits for the answer: the first ones are left out. */
  #ask(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#list()
      .then(
        (listed) => this.heard(listed),
        // It is asked again with the next sample.
        () => undefined,
      )
      .finally(() => {
        this.#isAsking = false
      })
  }

  #path(serviceUuid: string): string {
    if (!uuidPattern.test(serviceUuid)) throw new Error(`'${serviceUuid}' is not the UUID of a service`)
    return join(this.#directory, `${serviceUuid}${suffix}`)
  }
}

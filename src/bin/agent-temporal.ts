import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { tracedActivities } from '../control/temporal-traces.ts'
import type { HostReport } from '../domain/host/api-protocol.ts'
import type { HostActivities, MoveActivities, VolumeActivities } from '../domain/instance/host-work.ts'
import { nodeTaskQueue } from '../domain/instance/host-work.ts'
import type { AgentLog, VolumeEvents } from '../host/agent/agent-ports.ts'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import { toldProtocol, wires } from '../domain/protocols.ts'
import type { PartIdentity } from '../trust/part-identity.ts'
import { connectionOptions } from '../trust/temporal-tls.ts'
import type { TemporalServer, TemporalTls } from '../trust/temporal-tls.ts'
import type { HostEvents } from '../host/instance/event-outbox.ts'

export interface TemporalAddress extends TemporalServer {
  readonly namespace: string
  /** What a host that joined shows to the relay at this address. Absent: Temporal is on this machine. */
  readonly identity?: () => PartIdentity
}

/** The wait between two attempts to reach Temporal. Temporal needs some seconds to start. */
const connectRetryMs = 500
/**
 * The most activities at once. Each start under way takes one of these places, and stops must get a place
 * even while many starts are under way.
 */
const activitiesAtOnce = 500
/**
 * How long an activity under way may take to end once the agent stops. In the meantime the agent ends the
 * VMs.
 */
const shutdownGrace = '1s'

/** The ports of the agent for events of instances and volumes, over what tells reports. */
export function reportedEvents(tell: (report: HostReport) => Promise<boolean>): {
  readonly events: HostEvents
  readonly volumeEvents: VolumeEvents
} {
  const told = async (report: HostReport) => ((await tell(report)) ? 'taken' : 'gone')
  return {
    events: { tell: async (uuid, event) => await told({ kind: 'instance', uuid, event }) },
    volumeEvents: { tell: async (uuid, event) => await told({ kind: 'volume', uuid, event }) },
  }
}

/**
 * How long a stop waits. A connection that is just being made can not be cut short, and the halt must not
 * wait for it.
 */
const stopLimitMs = 2_500

/**
 * The worker of the task queue `node-<id>`. It runs as soon as Temporal can be reached, and runs again after
 * Temporal was unreachable.
 */
export class NodeWorker {
  readonly #place: TemporalAddress
  readonly #nodeId: string
  readonly #activities: HostActivities & MoveActivities & VolumeActivities
  readonly #log: AgentLog
  #worker: Worker | undefined
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: {
    readonly place: TemporalAddress
    readonly nodeId: string
    readonly activities: HostActivities & MoveActivities & VolumeActivities
    readonly log: AgentLog
  }) {
    this.#place = options.place
    this.#nodeId = options.nodeId
    this.#activities = options.activities
    this.#log = options.log
    // The agent itself decides what a process signal means: it ends the VMs first.
    Runtime.install({
      shutdownSignals: [],
      logger: new DefaultLogger('ERROR', (entry) => {
        this.#log.error({ ...entry.meta }, entry.message)
      }),
    })
  }

  get polls(): boolean {
    return this.#worker?.getState() === 'RUNNING'
  }

  start(): void {
    this.#running = this.#keepRunning()
  }

  /** Connects again, as with a new certificate. Work under way is taken up again. */
  renew(): void {
    if (this.polls) this.#worker?.shutdown()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.polls) this.#worker?.shutdown()
    await Promise.race([this.#running, new Promise((resolve) => setTimeout(resolve, stopLimitMs))])
  }

  async #keepRunning(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#runOnce()
      } catch (error) {
        this.#log.warn({ err: error }, 'Temporal can not be reached; trying again')
      }
      if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, connectRetryMs))
    }
  }

  async #runOnce(): Promise<void> {
    const connection = await NativeConnection.connect(relayConnection(this.#place))
    try {
      this.#worker = await Worker.create({
        connection,
        namespace: this.#place.namespace,
        taskQueue: nodeTaskQueue(this.#nodeId),
        activities: this.#activities,
        interceptors: { activity: [tracedActivities] },
        activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, maximum: 5 },
        maxConcurrentActivityTaskExecutions: activitiesAtOnce,
        shutdownGraceTime: shutdownGrace,
        shutdownForceTime: shutdownGrace,
      })
      if (!this.#stopped) await this.#worker.run()
    } finally {
      this.#worker = undefined
      await connection.close()
    }
  }
}

/** How an agent connects to the relay, or to Temporal itself, which does not look at the version. */
export function relayConnection(place: TemporalAddress) {
  const { address, identity } = place
  const server = identity === undefined ? place : { address, tls: relayTls(identity()) }
  return { ...connectionOptions(server), metadata: toldProtocol(wires.relay) }
}

/** How the relay is spoken to. */
export function relayTls({ certificate, key, authority }: PartIdentity): TemporalTls {
  return { serverName: kindName(PlatformPart.Api), authority, client: { certificate, key } }
}

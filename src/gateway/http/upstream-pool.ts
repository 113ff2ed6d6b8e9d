import { Client } from 'undici'
import type { Admission } from '../traffic.ts'
import { GrpcSessions } from './grpc-sessions.ts'
import type { HttpLimits } from './http-limits.ts'
import { connectUpstream } from './upstream-address.ts'
import type { UpstreamAddress } from './upstream-address.ts'

/** One HTTP/1.1 connection to an instance, for one request at a time. */
export interface UpstreamConnection {
  readonly client: Client
  /**
   * Whether the connection has carried a request before. If so, the instance may be closing it at this
   * moment.
   */
  used: boolean
}

/**
 * The connections to one port of one boot. An instance that is started again, or another one that is given
 * the same address, is another boot: nothing written for the one can reach the other.
 */
export class UpstreamPool {
  readonly address: UpstreamAddress
  readonly grpc: GrpcSessions
  /** Whether no request over this pool has been answered yet. */
  silent = true
  readonly #limits: HttpLimits
  readonly #idle: UpstreamConnection[] = []
  #open = 0
  #over = false
  /** Whether the instance has accepted a connection. From then on a refused connection is an error. */
  #listens = false

  constructor(address: UpstreamAddress, limits: HttpLimits) {
    this.address = address
    this.#limits = limits
    this.grpc = new GrpcSessions({ address, limits, isFresh: (fresh) => fresh && !this.#listens })
  }

  /** Returns undefined if there are too many. `reuse: false` asks for a new connection. */
  take(options: { readonly fresh: boolean; readonly reuse: boolean }): UpstreamConnection | undefined {
    const idle = options.reuse ? this.#idle.pop() : undefined
    if (idle !== undefined) return idle
    if (this.#open >= this.#limits.maxConnectionsPerBoot) return undefined
    this.#open += 1
    return this.#connect(options.fresh)
  }

  /** `intact`: the answer was complete, so the connection may carry another request. */
  release(connection: UpstreamConnection, options: { readonly intact: boolean }): void {
    connection.used = true
    const keep = options.intact && !this.#over && this.#idle.length < this.#limits.maxIdleConnectionsPerBoot
    if (keep) this.#idle.push(connection)
    else this.#drop(connection)
  }

  /** Makes a connection for what can not share one: upgrades, and bodies whose length is not known. */
  connect(fresh: boolean, done: Parameters<typeof connectUpstream>[2]): () => void {
    const options = { fresh: fresh && !this.#listens, limits: this.#limits }
    return connectUpstream(this.address, options, (result) => {
      if (!(result instanceof Error)) this.#listens = true
      done(result)
    })
  }

  /** Closes the idle connections. Connections in use are closed when they are released. */
  close(): void {
    this.#over = true
    for (const connection of this.#idle.splice(0)) this.#drop(connection)
    this.grpc.close()
  }

  #connect(fresh: boolean): UpstreamConnection {
    const limits = this.#limits
    const client = new Client(originOf(this.address), {
      // undici may connect again after it lost a connection, if it has a request of which it wrote nothing
      // yet.
      connect: (_options, callback) => {
        this.connect(fresh, (result) => {
          if (result instanceof Error) callback(result, null)
          else callback(null, result)
        })
      },
      pipelining: 1,
      keepAliveTimeout: limits.upstreamIdleMs,
      keepAliveMaxTimeout: limits.upstreamIdleMs,
      keepAliveTimeoutThreshold: 1_000,
      // The sweep watches both times: a timer for each request costs more than everything else done for it.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.maxResponseHeaderBytes,
      allowH2: false,
    })
    const connection: UpstreamConnection = { client, used: false }
    client.on('disconnect', () => this.#forgetIdle(connection))
    return connection
  }

  #forgetIdle(connection: UpstreamConnection): void {
    const index = this.#idle.indexOf(connection)
    if (index < 0) return
    this.#idle.splice(index, 1)
    this.#drop(connection)
  }

  #drop({ client }: UpstreamConnection): void {
    this.#open -= 1
    void client.destroy()
  }
}

function originOf({ host, port }: UpstreamAddress): string {
  return host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`
}

/** All pools, by instance, boot and port. */
export class UpstreamPools {
  readonly #limits: HttpLimits
  readonly #byInstance = new Map<string, { boot: number; readonly byPort: Map<string, UpstreamPool> }>()

  constructor(limits: HttpLimits) {
    this.#limits = limits
  }

  of(admission: Admission): UpstreamPool {
    let found = this.#byInstance.get(admission.instanceUuid)
    if (found === undefined || found.boot !== admission.boot) {
      if (found !== undefined) this.forget(admission.instanceUuid, found.boot)
      found = { boot: admission.boot, byPort: new Map() }
      this.#byInstance.set(admission.instanceUuid, found)
    }
    const key = `${admission.port} ${admission.host}`
    let pool = found.byPort.get(key)
    if (pool === undefined) {
      pool = new UpstreamPool({ host: admission.host, port: admission.port }, this.#limits)
      found.byPort.set(key, pool)
    }
    return pool
  }

  forget(instanceUuid: string, boot: number): void {
    const found = this.#byInstance.get(instanceUuid)
    if (found?.boot !== boot) return
    this.#byInstance.delete(instanceUuid)
    for (const pool of found.byPort.values()) pool.close()
  }

  close(): void {
    for (const [instanceUuid, { boot }] of this.#byInstance) this.forget(instanceUuid, boot)
  }
}

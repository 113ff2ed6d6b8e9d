import type { Socket } from 'node:net'
import type { Admission } from '../../traffic.ts'
import { GrpcSessions } from './grpc-sessions.ts'
import type { HttpLimits } from '../http-limits.ts'
import { ConnectTurns } from './connect-turns.ts'
import { ConnectTimeout, connectUpstream } from './upstream-address.ts'
import type { ConnectOptions, UpstreamAddress } from './upstream-address.ts'
import type { Sweep } from '../sweep.ts'
import { UpstreamConnection } from './upstream-connection.ts'

/**
 * How many connections to a fresh boot are made at once. All requests that waited for it come together, and
 * a guest that just woke loses what it can not take: some servers have a queue of 5 connections that they did
 * not accept yet, and many one of 128. Until one is accepted, one is tried for all.
 */
const maxFreshConnects = 8

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
  readonly #sweep: Sweep
  readonly #idle: UpstreamConnection[] = []
  #open = 0
  #over = false
  /** Whether the instance has accepted a connection. From then on a refused connection is an error. */
  #listens = false
  readonly #turns = new ConnectTurns(() => (this.#listens ? maxFreshConnects : 1))

  constructor(address: UpstreamAddress, options: { readonly limits: HttpLimits; readonly sweep: Sweep }) {
    const { limits } = options
    this.address = address
    this.#limits = limits
    this.#sweep = options.sweep
    this.grpc = new GrpcSessions({ address, limits, listens: () => this.#listens })
  }

  /** Returns undefined if there are too many. `reuse: false` asks for a new connection. */
  take(options: { readonly fresh: boolean; readonly reuse: boolean }): UpstreamConnection | undefined {
    if (options.reuse) {
      for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
        if (!idle.isStale) return idle
        this.#drop(idle)
      }
    }
    if (this.#open >= this.#limits.maxConnectionsPerBoot) return undefined
    this.#open += 1
    return new UpstreamConnection({
      connect: (onRead, done) => this.connect(options.fresh, done, onRead),
      limits: this.#limits,
      sweep: this.#sweep,
      onIdleEnd: (connection) => this.#forgetIdle(connection),
    })
  }

  /** `intact`: request and answer were complete, so the connection may carry another request. */
  release(connection: UpstreamConnection, options: { readonly intact: boolean }): void {
    const { maxIdleConnectionsPerBoot } = this.#limits
    if (
      options.intact &&
      connection.reusable &&
      !this.#over &&
      this.#idle.length < maxIdleConnectionsPerBoot
    ) {
      connection.rest()
      this.#idle.push(connection)
    } else this.#drop(connection)
  }

  /** Makes a connection for what can not share one: upgrades, and bodies whose length is not known. */
  connect(
    fresh: boolean,
    done: Parameters<typeof connectUpstream>[2],
    onRead?: ConnectOptions['onRead'],
  ): () => void {
    if (!fresh) return this.#connect({ fresh, onRead }, done)
    const { freshConnectMs } = this.#limits
    const askedAtMs = performance.now()
    let giveUp: (() => void) | undefined
    const settle = (result: Socket | Error): void => {
      clearTimeout(limit)
      endTurn()
      done(result)
    }
    const limit = setTimeout(() => settle(new ConnectTimeout('the port did not accept')), freshConnectMs)
    const endTurn = this.#turns.take(() => {
      clearTimeout(limit)
      giveUp = this.#connect({ fresh, onRead, waitedMs: performance.now() - askedAtMs }, settle)
    })
    return () => {
      clearTimeout(limit)
      giveUp?.()
      endTurn()
    }
  }

  #connect(
    options: Pick<ConnectOptions, 'fresh' | 'onRead' | 'waitedMs'>,
    done: Parameters<typeof connectUpstream>[2],
  ): () => void {
    const all = { ...options, listens: this.#listens, limits: this.#limits }
    return connectUpstream(this.address, all, (result) => {
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

  #forgetIdle(connection: UpstreamConnection): void {
    const index = this.#idle.indexOf(connection)
    if (index < 0) return
    this.#idle.splice(index, 1)
    this.#drop(connection)
  }

  #drop(connection: UpstreamConnection): void {
    this.#open -= 1
    connection.destroy()
  }
}

/** All pools, by instance, boot and port. */
export class UpstreamPools {
  readonly #options: { readonly limits: HttpLimits; readonly sweep: Sweep }
  readonly #byInstance = new Map<string, { boot: number; readonly pools: UpstreamPool[] }>()

  constructor(options: { readonly limits: HttpLimits; readonly sweep: Sweep }) {
    this.#options = options
  }

  of(admission: Admission): UpstreamPool {
    let found = this.#byInstance.get(admission.instanceUuid)
    if (found === undefined || found.boot !== admission.boot) {
      if (found !== undefined) this.forget(admission.instanceUuid, found.boot)
      found = { boot: admission.boot, pools: [] }
      this.#byInstance.set(admission.instanceUuid, found)
    }
    const { host, port, secure } = admission
    let pool = found.pools.find(({ address }) => address.port === port && address.host === host)
    if (pool === undefined) {
      pool = new UpstreamPool({ host, port, ...(secure && { secure }) }, this.#options)
      found.pools.push(pool)
    }
    return pool
  }

  forget(instanceUuid: string, boot: number): void {
    const found = this.#byInstance.get(instanceUuid)
    if (found?.boot !== boot) return
    this.#byInstance.delete(instanceUuid)
    for (const pool of found.pools) pool.close()
  }

  close(): void {
    for (const [instanceUuid, { boot }] of this.#byInstance) this.forget(instanceUuid, boot)
  }
}

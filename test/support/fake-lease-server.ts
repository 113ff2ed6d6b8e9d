import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { GatewayMessage, HostMessage, OpenLease } from '../../src/domain/standby/lease-protocol.ts'
import { trafficUpgrade } from '../../src/domain/standby/lease-protocol.ts'
import type { RouteNode } from '../../src/domain/service/route-feed.ts'
import { JsonLineReader, jsonLine } from '../../src/primitives/json-lines.ts'

type Heard<K extends GatewayMessage['kind']> = Extract<GatewayMessage, { kind: K }>

/** A `LeaseServer` as its gateways see it, over a real socket. A test sets its answers. */
export class FakeLeaseServer {
  readonly heard: GatewayMessage[] = []
  /** The answer to a request for a lease. If it is undefined, the test itself answers the request. */
  answer: (
    open: Heard<'open'>,
  ) => Partial<OpenLease> | Extract<HostMessage, { kind: 'refused' }> | undefined = () => ({})
  reach: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 9 }
  /** If set, the server listens but answers nothing. */
  mute = false
  /** If set, the test itself answers `hello`. */
  reserved = false
  /** The address at which gateways find the server. */
  address = '127.0.0.1'
  readonly #secret: string
  readonly #server: Server
  #port = 0
  readonly #sockets = new Set<Socket>()
  /** Which gateway said something. It gets the answer; what nobody asked for goes to all. */
  readonly #speakers = new WeakMap<GatewayMessage, Socket>()
  #waiting: (() => void)[] = []

  constructor(secret = 'secret') {
    this.#secret = secret
    this.#server = createServer()
    this.#server.on('upgrade', (request, socket: Socket) => {
      if (request.headers.authorization !== `Bearer ${secret}`) socket.destroy()
      else this.#welcome(socket)
    })
  }

  static async start(secret?: string): Promise<FakeLeaseServer> {
    const host = new FakeLeaseServer(secret)
    host.#server.listen(0, '127.0.0.1')
    await once(host.#server, 'listening')
    host.#port = (host.#server.address() as AddressInfo).port
    return host
  }

  get node(): RouteNode {
    return { id: 'node-1', agentUrl: `http://${this.address}:${this.#port}`, trafficSecret: this.#secret }
  }

  all<K extends GatewayMessage['kind']>(kind: K): readonly Heard<K>[] {
    return this.heard.filter((message): message is Heard<K> => message.kind === kind)
  }

  async next<K extends GatewayMessage['kind']>(kind: K, nth = 1): Promise<Heard<K>> {
    for (;;) {
      const found = this.all(kind)[nth - 1]
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  say(message: HostMessage, answered?: GatewayMessage): void {
    const speaker = answered === undefined ? undefined : this.#speakers.get(answered)
    if (this.mute) return
    for (const socket of speaker === undefined ? this.#sockets : [speaker]) socket.write(jsonLine(message))
  }

  open(asked: Heard<'open'>, lease: Partial<OpenLease> = {}): void {
    const { instance, epoch, ports } = asked
    const reach = Object.fromEntries(ports.map((port) => [port, this.reach]))
    const opened = { kind: 'opened', instance, epoch, boot: 1, memoryBoot: 1, reach } as const
    this.say({ ...opened, quietConnectionsSleep: false, ...lease }, asked)
  }

  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends the agent, so that its machine refuses connections. */
  die(): void {
    this.close()
  }

  /** Starts another agent on the same machine. */
  async revive(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  close(): void {
    this.drop()
    this.#server.close()
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${trafficUpgrade}\r\n\r\n`,
    )
    const reader = new JsonLineReader({ maxBytes: 1 << 20 })
    socket.on('data', (chunk: Buffer) => {
      for (const line of reader.push(chunk)) {
        const message = line as GatewayMessage
        this.#speakers.set(message, socket)
        this.#hear(message)
      }
    })
  }

  #hear(message: GatewayMessage): void {
    this.heard.push(message)
    if (message.kind === 'hello' && !this.reserved) this.say({ kind: 'welcome', nodeId: 'node-1' }, message)
    if (message.kind === 'open') {
      const answer = this.answer(message)
      if (answer !== undefined && 'reason' in answer) this.say({ ...answer, epoch: message.epoch }, message)
      else if (answer !== undefined) this.open(message, answer)
    }
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attachment } from '../../../src/host/network/network.ts'
import { firstVmUid } from '../../../src/host/vmm/vm-owner.ts'

/** What a guest runs so that a test can talk to it: one shell per connection. */
export const shellApplication = ['nc', '-ll', '-p', '2323', '-e', 'sh']
const shellPort = 2323
const answerLimitMs = 30_000
const pollMs = 20

/** A TAP device in the namespace of the test run, with one guest behind it. */
export const tapAttachment: Attachment = {
  kind: 'tap',
  interfaceName: 'vmm-test',
  ownerUid: firstVmUid + 7,
  ip: '10.99.0.2',
  prefixLength: 24,
  gateway: '10.99.0.1',
  nameserver: '10.99.0.1',
  mac: '12:b0:0a:63:00:02',
}

export function makeTap(): void {
  const name = 'vmm-test'
  const lines = [
    `tuntap add dev ${name} mode tap user ${firstVmUid + 7}`,
    `addr add ${tapAttachment.gateway}/24 dev ${name}`,
    `link set ${name} up`,
    `neigh replace ${tapAttachment.ip} lladdr ${tapAttachment.mac} dev ${name} nud permanent`,
  ]
  execFileSync('ip', ['-batch', '-'], { input: lines.join('\n') })
}

export function removeTap(): void {
  execFileSync('ip', ['link', 'delete', 'vmm-test'])
}

/** One TCP connection to a shell in a guest. */
export class GuestShell {
  readonly #socket: Socket
  #text = ''

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (this.#text += chunk))
    socket.on('error', () => undefined)
  }

  /** Tries until the guest listens. */
  static async open(): Promise<GuestShell> {
    const deadlineMs = performance.now() + answerLimitMs
    for (;;) {
      const socket = connect({ host: tapAttachment.ip, port: shellPort })
      try {
        await once(socket, 'connect')
        return new GuestShell(socket)
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
        await delay(pollMs)
      }
    }
  }

  /** Sends a line and resolves with what the shell printed. */
  async run(line: string): Promise<string> {
    this.#text = ''
    this.#socket.write(`${line}; echo "<done>"\n`)
    const signal = AbortSignal.timeout(answerLimitMs)
    while (!this.#text.endsWith('<done>\n')) await once(this.#socket, 'data', { signal })
    return this.#text.slice(0, -'<done>\n'.length)
  }

  close(): void {
    this.#socket.destroy()
  }
}

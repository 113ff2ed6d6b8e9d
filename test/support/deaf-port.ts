import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import process from 'node:process'
import { until } from './until.ts'

const limitMs = 30_000
/** With this backlog the kernel takes one more connection that nobody accepts, and answers no further SYN. */
const backlog = 64
/** The kernel's number of the state of a connection that is being made. */
const synSent = '02'
/** Answers each request of HTTP with `heard`, and closes the connection. */
const program = `
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\n\\r\\nheard'))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: ${String(backlog)} }, () => console.log(server.address().port))
`

/**
 * A port of the loopback that can turn deaf: whoever connects then gets no answer, as from a guest that
 * sleeps, that is busy, or to which no route leads.
 */
export class DeafPort {
  readonly port: number
  readonly #server: ChildProcess
  readonly #waiting: Socket[] = []

  private constructor(server: ChildProcess, port: number) {
    this.#server = server
    this.port = port
  }

  /** It hears at first. */
  static async open(): Promise<DeafPort> {
    const server = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    assert.ok(server.stdout)
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    return new DeafPort(server, Number(String(line)))
  }

  async turnDeaf(): Promise<void> {
    this.#server.kill('SIGSTOP')
    const stat = `/proc/${String(this.#server.pid)}/stat`
    await until('the server stands still', () => readFileSync(stat, 'utf8').includes(') T '), { limitMs })
    for (let count = 0; count <= backlog; count += 1) {
      const socket = connect(this.port, '127.0.0.1')
      this.#waiting.push(socket)
      socket.on('error', () => undefined)
      await once(socket, 'connect')
    }
  }

  /** How many connections are being made, without an answer so far. */
  get asking(): number {
    const to = `0100007F:${this.port.toString(16).toUpperCase().padStart(4, '0')}`
    const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n')
    return sockets.filter((line) => {
      const [, , remote, state] = line.trim().split(/\s+/)
      return remote === to && state === synSent
    }).length
  }

  hear(): void {
    this.#server.kill('SIGCONT')
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy()
    this.#server.kill('SIGKILL')
  }
}

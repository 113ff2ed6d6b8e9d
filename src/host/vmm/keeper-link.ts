import { EventEmitter } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const wordPrefix = '~ '

/**
 * A connection to a VM's keeper. The keeper accepts connections for exactly as long as the VM lives, so
 * `connectKeeper` returns undefined if the VM has ended or never began.
 *
 * Emits `text` with all events of the keeper so far, each time there are more; `word` with each message
 * about the present moment, of which the keeper keeps no record; and `close` once.
 */
export class KeeperLink extends EventEmitter<{ text: [string]; word: [string]; close: [] }> {
  readonly #socket: Socket
  #text = ''
  #rest = ''

  constructor(socket: Socket) {
    super()
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => this.#receive(chunk))
    socket.once('close', () => this.emit('close'))
  }

  /** Sends one of the commands that `guest/keeper/control.c` understands. */
  command(line: string): void {
    this.#socket.write(`${line}\n`)
  }

  /** Closes the connection. The VM goes on. */
  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop() ?? ''
    const known = this.#text.length
    for (const line of lines) {
      if (line.startsWith(wordPrefix)) this.emit('word', line.slice(wordPrefix.length))
      else this.#text += `${line}\n`
    }
    if (this.#text.length > known) this.emit('text', this.#text)
  }
}

export async function connectKeeper(directory: string): Promise<KeeperLink | undefined> {
  const socket = await connectKeeperSocket(directory)
  return socket && new KeeperLink(socket)
}

/**
 * Connects through a descriptor of the directory: a socket's path has room for about a hundred bytes, and
 * the path of a data directory may be longer.
 */
export async function connectKeeperSocket(directory: string): Promise<Socket | undefined> {
  let descriptor: number
  try {
    descriptor = openSync(directory, 'r')
  } catch {
    return undefined
  }
  try {
    return await connectPath(`/proc/self/fd/${descriptor}/keeper.sock`)
  } finally {
    closeSync(descriptor)
  }
}

async function connectPath(path: string): Promise<Socket | undefined> {
  const socket = connect({ path })
  return await new Promise((resolve) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      // The end of the VM resets the connection. `close` follows, and the reset itself says nothing more.
      socket.on('error', () => undefined)
      resolve(socket)
    })
    socket.once('error', () => resolve(undefined))
  })
}

import { EventEmitter } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const wordPrefix = '~ '

/**
 * A connection to a VM's keeper. The keeper accepts for exactly as long as the VM lives, so `undefined` from
 * `connectKeeper` means that it does not (any more).
 *
 * Emits `text` with all of the keeper's events so far, each time it has grown, `word` with what it says of
 * the moment and keeps no record of, and `close` once.
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
    // The end of the VM resets the connection; `close` follows and says all there is to say.
    socket.on('error', () => undefined)
    socket.once('close', () => this.emit('close'))
  }

  /** One of the commands that `guest/keeper/control.c` has. */
  command(line: string): void {
    this.#socket.write(`${line}\n`)
  }

  /** Lets go; the VM goes on. */
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

/**
 * Through a descriptor of the directory: a socket's path has room for about a hundred bytes, a data directory
 * may be longer.
 */
export async function connectKeeper(directory: string): Promise<KeeperLink | undefined> {
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

async function connectPath(path: string): Promise<KeeperLink | undefined> {
  const socket = connect({ path })
  return await new Promise((resolve) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(new KeeperLink(socket))
    })
    socket.once('error', () => resolve(undefined))
  })
}

import type { Socket } from 'node:net'
import { FrameType, frameHead, frameHeadBytes, maxPayloadBytes } from './frames.ts'

/** Up to this size a piece of a body is joined with the frames around it; that is cheaper. */
const maxJoinedBytes = 8_192
/** What is collected is written when it is larger than this, at the latest. */
const maxCollectedBytes = 64 << 10
/** With more unsent bytes than this, nothing is read from the client: what it sends might be answered. */
const maxUnsentBytes = 512 << 10

/**
 * The frames on their way to one client. Those of one turn of the event loop are written together: the
 * answers of several instances then share one record of TLS.
 */
export class FrameOutput {
  readonly #socket: Socket
  readonly #onRoom: () => void
  #texts: string[] = []
  #bytes = 0
  #scheduled = false
  /** The number of writes so far. It tells whether a frame is still among the collected ones. */
  #writes = 0

  constructor(socket: Socket, onRoom: () => void) {
    this.#socket = socket
    this.#onRoom = onRoom
    socket.on('drain', () => {
      if (socket.isPaused()) socket.resume()
      onRoom()
    })
  }

  /** Whether nothing is read from the client, because it does not take what it was sent. */
  get holdsBack(): boolean {
    return this.#socket.isPaused()
  }

  get unsentBytes(): number {
    return this.#bytes + this.#socket.writableLength
  }

  /** Whether bodies have to wait. `onRoom` is called when they may go on. */
  get isFull(): boolean {
    return this.unsentBytes >= this.#socket.writableHighWaterMark
  }

  send(frames: string): void {
    if (this.#bytes > maxCollectedBytes) this.flush()
    this.#texts.push(frames)
    this.#bytes += frames.length
    this.#schedule()
  }

  /** Like `send`. Returns where the frame stands, for `mark`. */
  sendMarkable(frame: string): FramePlace {
    this.send(frame)
    return { writes: this.#writes, index: this.#texts.length - 1 }
  }

  /**
   * Sets flags of a frame that is not written yet: its fifth byte. Returns false if it is too late, or if
   * there is no such frame.
   */
  mark(place: FramePlace | undefined, flags: number): boolean {
    if (place?.writes !== this.#writes) return false
    const frame = this.#texts[place.index]
    if (frame === undefined) return false
    this.#texts[place.index] =
      frame.slice(0, 4) + String.fromCharCode(frame.charCodeAt(4) | flags) + frame.slice(5)
    return true
  }

  /**
   * Sends a piece of a body, in as many frames as it needs. Returns where its only frame stands; undefined
   * if it can not be marked any more. The bytes of the chunk may become others after the call.
   */
  sendData(stream: number, chunk: Buffer): FramePlace | undefined {
    if (chunk.length <= maxJoinedBytes) {
      return this.sendMarkable(frameHead(chunk.length, FrameType.Data, 0, stream) + chunk.toString('latin1'))
    }
    this.flush()
    const frames = Math.ceil(chunk.length / maxPayloadBytes)
    const bytes = Buffer.allocUnsafe(chunk.length + frames * frameHeadBytes)
    let to = 0
    for (let from = 0; from < chunk.length; from += maxPayloadBytes) {
      const length = Math.min(maxPayloadBytes, chunk.length - from)
      to += bytes.write(frameHead(length, FrameType.Data, 0, stream), to, 'latin1')
      to += chunk.copy(bytes, to, from, from + length)
    }
    this.#socket.write(bytes)
    this.#held()
    return undefined
  }

  flush(): void {
    if (this.#bytes === 0) return
    const text = this.#texts.length === 1 ? (this.#texts[0] ?? '') : this.#texts.join('')
    this.#texts = []
    this.#bytes = 0
    this.#writes += 1
    if (this.#socket.destroyed) return
    this.#socket.write(text, 'latin1')
    this.#held()
  }

  #held(): void {
    if (this.#socket.writableLength > maxUnsentBytes) this.#socket.pause()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#turnEnds)
  }

  readonly #turnEnds = (): void => {
    this.#scheduled = false
    this.flush()
    if (!this.isFull) this.#onRoom()
  }
}

export interface FramePlace {
  readonly writes: number
  readonly index: number
}

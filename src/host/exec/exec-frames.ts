import { wires } from '../../domain/protocols.ts'

/**
 * The frames between this process and a guest's exec server; `guest/init/exec.h` has their meaning and the
 * same numbers. What a guest sends is not trusted: a frame that is not sound ends the connection.
 */
/**
 * The most programs and copies at a time, and the most connections. The sessions of programs have the
 * first numbers.
 */
export const maxGuestPrograms = 8
export const maxGuestConnections = 64
const maxGuestSessions = maxGuestPrograms + maxGuestConnections
/** The most bytes of one direction of a program that its receiver has not taken yet. */
export const windowBytes = 64 * 1024
/** The same of a connection. There may be many, so all together have at most 2 MiB in each direction. */
export const connectionWindowBytes = 32 * 1024
export const maxRequestBytes = 64 * 1024
/** A guest that was started by an older version of the platform answers with 1, and has programs only. */
export const execVersion = wires.guestExec.version
/** The most bytes of input in one frame. */
export const maxInputBytes = 16 * 1024

const headerBytes = 8
/** A guest sends no longer frames: 4 KiB of output with their header. */
const maxGuestPayloadBytes = 4096
const greetingStart = Buffer.from('roost-ex')
export const greetingBytes = 16

/** What a host sends. */
export const HostFrame = {
  Begin: 0x48,
  Open: 0x4f,
  Input: 0x49,
  EndInput: 0x45,
  OutputTaken: 0x43,
  Resize: 0x57,
  Signal: 0x4b,
  Close: 0x58,
} as const
export type HostFrame = (typeof HostFrame)[keyof typeof HostFrame]

/** What a guest sends. */
export const GuestFrame = {
  Begin: 0x48,
  Started: 0x53,
  Output: 0x4f,
  ErrorOutput: 0x52,
  InputTaken: 0x43,
  Failed: 0x46,
  OutputEnded: 0x44,
  Ended: 0x58,
} as const
export type GuestFrame = (typeof GuestFrame)[keyof typeof GuestFrame]

const guestFrames: ReadonlySet<number> = new Set(Object.values(GuestFrame))

export interface ReceivedFrame {
  readonly type: GuestFrame
  readonly session: number
  readonly payload: Buffer
}

/** Thrown where a guest does not keep to the protocol. */
export class UnsoundFrame extends Error {
  override readonly name = 'UnsoundFrame'
}

export function encodeFrame(type: HostFrame, session: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(headerBytes)
  header[0] = type
  header[1] = session
  header.writeUInt32LE(payload.length, 4)
  return Buffer.concat([header, payload])
}

/** The first bytes on a connection. The guest repeats them, so that what came before is told apart. */
export function greetingOf(random: Buffer): Buffer {
  return Buffer.concat([greetingStart, random.subarray(0, greetingBytes - greetingStart.length)])
}

/** Cuts what a guest sends into frames. It keeps less than one frame. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): readonly ReceivedFrame[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const frames: ReceivedFrame[] = []
    for (;;) {
      const frame = this.#next()
      if (frame === undefined) return frames
      frames.push(frame)
    }
  }

  #next(): ReceivedFrame | undefined {
    const rest = this.#rest
    if (rest.length < headerBytes) return undefined
    const [type = 0, session = 0] = rest
    const length = rest.readUInt32LE(4)
    const sound = guestFrames.has(type) && session < maxGuestSessions && rest.readUInt16LE(2) === 0
    if (!sound || length > maxGuestPayloadBytes) throw new UnsoundFrame('the guest sent no frame')
    if (rest.length < headerBytes + length) return undefined
    this.#rest = rest.subarray(headerBytes + length)
    return { type: type as GuestFrame, session, payload: rest.subarray(headerBytes, headerBytes + length) }
  }
}

/** The most bytes before the answer to a greeting. They are left over from an earlier connection. */
const maxStaleBytes = 1 << 20

/** Drops everything up to the guest's answer to this greeting. */
export class GreetingReader {
  readonly #wanted: Buffer
  #bytes: Buffer = Buffer.alloc(0)
  #dropped = 0

  constructor(greeting: Buffer) {
    const header = Buffer.alloc(headerBytes)
    header[0] = GuestFrame.Begin
    header.writeUInt32LE(greetingBytes + 1, 4)
    this.#wanted = Buffer.concat([header, greeting])
  }

  /** Once the answer is there, the version in it and what follows. */
  push(chunk: Buffer): { readonly version: number; readonly rest: Buffer } | undefined {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    const at = this.#bytes.indexOf(this.#wanted)
    const end = at + this.#wanted.length + 1
    if (at >= 0 && this.#bytes.length >= end)
      return { version: this.#bytes[end - 1] ?? 0, rest: this.#bytes.subarray(end) }
    const stale = at >= 0 ? at : Math.max(0, this.#bytes.length - this.#wanted.length)
    this.#dropped += stale
    if (this.#dropped > maxStaleBytes) throw new UnsoundFrame('the guest does not answer the greeting')
    this.#bytes = this.#bytes.subarray(stale)
    return undefined
  }
}

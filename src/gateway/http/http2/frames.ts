/** The types of frames (RFC 9113, 6). */
export const FrameType = {
  Data: 0,
  Headers: 1,
  Priority: 2,
  Reset: 3,
  Settings: 4,
  PushPromise: 5,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
  Continuation: 9,
} as const
export type FrameType = (typeof FrameType)[keyof typeof FrameType]

export const Flag = { EndStream: 1, Ack: 1, EndHeaders: 4, Padded: 8, Priority: 0x20 } as const

/** The codes with which a stream or a connection ends (RFC 9113, 7). */
export const ErrorCode = {
  NoError: 0,
  ProtocolError: 1,
  InternalError: 2,
  FlowControlError: 3,
  StreamClosed: 5,
  FrameSizeError: 6,
  RefusedStream: 7,
  Cancel: 8,
  CompressionError: 9,
  EnhanceYourCalm: 11,
} as const
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

export const Setting = {
  EnablePush: 2,
  MaxConcurrentStreams: 3,
  InitialWindowSize: 4,
  MaxFrameSize: 5,
  MaxHeaderListSize: 6,
  EnableConnectProtocol: 8,
  NoPriorities: 9,
} as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
export const frameHeadBytes = 9
/** The largest payload that either side sends. Nobody has to accept more. */
export const maxPayloadBytes = 16_384
export const largestWindow = 0x7fff_ffff
/** The window of a connection, and of a stream until settings say otherwise. */
export const defaultWindow = 65_535
/** The largest stream identifier. A GOAWAY that names it says only that the connection will end. */
export const largestStream = 0x7fff_ffff

/** An error that ends the connection, with GOAWAY. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export const badFrame = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.ProtocolError, message)
export const badSize = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.FrameSizeError, message)
export const badWindow = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.FlowControlError, message)
export const tooMuch = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.EnhanceYourCalm, message)

// Frames are written as texts in which each character is one byte: joining texts is cheaper than writing
// into memory.

export function frameHead(length: number, type: FrameType, flags: number, stream: number): string {
  return String.fromCharCode(
    length >>> 16,
    (length >>> 8) & 0xff,
    length & 0xff,
    type,
    flags,
    stream >>> 24,
    (stream >>> 16) & 0xff,
    (stream >>> 8) & 0xff,
    stream & 0xff,
  )
}

export function resetFrame(stream: number, code: ErrorCode): string {
  return frameHead(4, FrameType.Reset, 0, stream) + uint32(code)
}

export function windowFrame(stream: number, increment: number): string {
  return frameHead(4, FrameType.WindowUpdate, 0, stream) + uint32(increment)
}

export function goAwayFrame(lastStream: number, code: ErrorCode): string {
  return frameHead(8, FrameType.GoAway, 0, 0) + uint32(lastStream) + uint32(code)
}

export function settingsFrame(settings: readonly (readonly [setting: number, value: number])[]): string {
  let payload = ''
  for (const [setting, value] of settings)
    payload += String.fromCharCode(setting >>> 8, setting) + uint32(value)
  return frameHead(payload.length, FrameType.Settings, 0, 0) + payload
}

/** Writes a block of fields as HEADERS, and as many CONTINUATION frames as it needs. */
export function headersFrames(stream: number, block: string, flags: number): string {
  if (block.length <= maxPayloadBytes) {
    return frameHead(block.length, FrameType.Headers, flags | Flag.EndHeaders, stream) + block
  }
  let text = frameHead(maxPayloadBytes, FrameType.Headers, flags, stream) + block.slice(0, maxPayloadBytes)
  for (let at = maxPayloadBytes; at < block.length; at += maxPayloadBytes) {
    const part = block.slice(at, at + maxPayloadBytes)
    const last = at + maxPayloadBytes >= block.length
    text += frameHead(part.length, FrameType.Continuation, last ? Flag.EndHeaders : 0, stream) + part
  }
  return text
}

function uint32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

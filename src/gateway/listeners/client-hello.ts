/** The parts of a TLS client's first message that decide how the client is answered. */
export interface ClientHello {
  /** The name as it is looked up: lower case, no final dot. Empty if the client names none. */
  readonly serverName: string
  /** The protocols of ALPN, in the client's order. */
  readonly protocols: readonly string[]
}

export type HelloReading =
  | { readonly kind: 'hello'; readonly hello: ClientHello }
  /** More bytes have to come: at least `needsBytes` in total, counted from the first byte. */
  | { readonly kind: 'incomplete'; readonly needsBytes: number }
  /** The bytes are no hello, or larger than any client's hello. TLS itself has to say what is wrong. */
  | { readonly kind: 'unreadable' }

/**
 * The largest hello that is read. The largest that occur have about 2 KB, with keys that withstand quantum
 * computers.
 */
export const maxHelloBytes = 16_384
/**
 * The largest number of records over which a hello may be spread; no client needs more than two or three.
 */
const maxRecords = 16
const recordHeaderBytes = 5
const messageHeaderBytes = 4
const handshakeRecord = 0x16
const clientHello = 0x01
const versionAndRandomBytes = 34
const serverNameExtension = 0
const hostName = 0
const protocolsExtension = 16
/**
 * The longest server name; OpenSSL has the same bound. A name is looked up label by label, so a name that
 * fills the message would keep the gateway busy for long.
 */
const maxNameBytes = 255

const unreadable: HelloReading = { kind: 'unreadable' }

/**
 * Reads the hello from a connection's first bytes, as far as they are there (RFC 8446, 4.1.2 and 5.1). It
 * never throws, and keeps nothing of `bytes`.
 */
export function readClientHello(bytes: Buffer): HelloReading {
  const message = messageIn(bytes)
  if (!Buffer.isBuffer(message)) return message
  try {
    return { kind: 'hello', hello: helloOf(message) }
  } catch (error) {
    if (error instanceof RangeError) return unreadable
    throw error
  }
}

/** The body of the first handshake message, put together from its records. */
function messageIn(bytes: Buffer): Buffer | HelloReading {
  const pieces: Buffer[] = []
  let collected = 0
  let wanted = messageHeaderBytes
  for (let at = 0, records = 0; collected < wanted; records++) {
    if (bytes.length > at && (bytes[at] !== handshakeRecord || records === maxRecords)) return unreadable
    if (bytes.length < at + recordHeaderBytes)
      return { kind: 'incomplete', needsBytes: at + recordHeaderBytes }
    const recordBytes = bytes.readUInt16BE(at + 3)
    const end = at + recordHeaderBytes + recordBytes
    if (bytes[at + 1] !== 3 || recordBytes === 0 || recordBytes > maxHelloBytes) return unreadable
    if (bytes.length < end) return { kind: 'incomplete', needsBytes: end }
    pieces.push(bytes.subarray(at + recordHeaderBytes, end))
    collected += recordBytes
    at = end
    if (collected >= messageHeaderBytes && wanted === messageHeaderBytes) {
      const head = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
      if (head?.[0] !== clientHello) return unreadable
      wanted = messageHeaderBytes + head.readUIntBE(1, 3)
      if (wanted > maxHelloBytes) return unreadable
    }
  }
  const [first] = pieces
  const message = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  return message.subarray(messageHeaderBytes, wanted)
}

/**
 * Reads the body of a hello. Throws `RangeError` if a length leads out of the message, or is one that TLS
 * does not accept.
 */
function helloOf(message: Buffer): ClientHello {
  let at = versionAndRandomBytes
  at += 1 + message.readUInt8(at)
  at += 2 + message.readUInt16BE(at)
  at += 1 + message.readUInt8(at)
  let serverName = ''
  let protocols: readonly string[] = []
  if (at === message.length) return { serverName, protocols }
  const end = at + 2 + message.readUInt16BE(at)
  at += 2
  if (end !== message.length) throw new RangeError('the extensions do not fill the message')
  while (at < end) {
    const kind = message.readUInt16BE(at)
    const from = at + 4
    at = from + message.readUInt16BE(at + 2)
    const content = within(message, from, at)
    if (kind === serverNameExtension) serverName = hostNameIn(content)
    else if (kind === protocolsExtension) protocols = protocolsIn(content)
  }
  return { serverName, protocols }
}

function hostNameIn(content: Buffer): string {
  const end = 2 + content.readUInt16BE(0)
  for (let at = 2; at < end;) {
    const from = at + 3
    const until = from + content.readUInt16BE(at + 1)
    if (content.readUInt8(at) === hostName) {
      if (until - from > maxNameBytes) throw new RangeError('the name is too long')
      return plainName(within(content, from, until).toString('latin1'))
    }
    at = until
  }
  return ''
}

function protocolsIn(content: Buffer): readonly string[] {
  const end = 2 + content.readUInt16BE(0)
  const found: string[] = []
  for (let at = 2; at < end;) {
    const until = at + 1 + content.readUInt8(at)
    found.push(within(content, at + 1, until).toString('latin1'))
    at = until
  }
  return found
}

function within(bytes: Buffer, from: number, until: number): Buffer {
  if (until > bytes.length) throw new RangeError('a length leads out of the message')
  return bytes.subarray(from, until)
}

/** A server name as it is looked up. */
export function plainName(serverName: string): string {
  return serverName.toLowerCase().replace(/\.$/, '')
}

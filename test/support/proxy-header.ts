import { isIPv4 } from 'node:net'

/** The parts of a header of the PROXY protocol, version 2. What is absent is as a proxy would send it. */
export interface ProxyHeaderParts {
  /** The client's address: IPv4, or IPv6 with all of its eight groups. */
  readonly client?: string
  readonly version?: number
  readonly command?: number
  /** The byte of family and transport. */
  readonly protocol?: number
  /** What follows the addresses. */
  readonly additions?: Buffer
  /** The length that the header announces. */
  readonly length?: number
}

export const localCommand = 0
const signature = Buffer.from([13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10])

export function proxyHeader(parts: ProxyHeaderParts = {}): Buffer {
  const { client = '203.0.113.7', version = 2, command = 1, additions = Buffer.alloc(0) } = parts
  const source = addressBytes(client)
  const { protocol = source.length === 4 ? 0x11 : 0x21 } = parts
  const rest = Buffer.concat([
    source,
    Buffer.alloc(source.length, 1),
    Buffer.from([4, 210, 1, 187]),
    additions,
  ])
  const { length = rest.length } = parts
  return Buffer.concat([
    signature,
    Buffer.from([(version << 4) | command, protocol, length >> 8, length & 255]),
    rest,
  ])
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const bytes = Buffer.alloc(16)
  for (const [index, group] of address.split(':').entries())
    bytes.writeUInt16BE(parseInt(group, 16), index * 2)
  return bytes
}

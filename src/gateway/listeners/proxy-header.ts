import { SocketAddress } from 'node:net'
import { plainAddress } from '../clients/source.ts'

/** Why the header of the PROXY protocol can not be used. */
export const ProxyHeaderFault = {
  /** The text form, version 1, whose end has to be searched for byte by byte. */
  TextForm: 'it is of version 1, and only version 2 is read: let the proxy send version 2',
  Version: 'its version is not 2',
  Command: 'its command is neither PROXY nor LOCAL',
  Protocol: 'it is for another protocol than TCP over IPv4 or IPv6',
  TooLong: 'it is longer than 4096 bytes',
  TooShort: 'it is too short for its addresses',
  Late: 'it did not arrive in time',
  Ended: 'the connection ended before it was complete',
} as const
export type ProxyHeaderFault = (typeof ProxyHeaderFault)[keyof typeof ProxyHeaderFault]

export type ProxyHeaderReading =
  /** More bytes have to come before anything can be said. */
  | { readonly kind: 'incomplete' }
  /** The bytes are the beginning of something else. */
  | { readonly kind: 'none' }
  /** `client` is undefined if the proxy speaks for itself. The header has `bytes` bytes. */
  | { readonly kind: 'header'; readonly bytes: number; readonly client: string | undefined }
  | { readonly kind: 'faulty'; readonly fault: ProxyHeaderFault }

/**
 * The largest number of bytes after the fixed part. The addresses take at most 36 there; the rest is for
 * additions, which are skipped. The longest that occur are a client's certificate names, below 1 KB.
 */
export const maxProxyHeaderBytes = 4_096

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const textForm = Buffer.from('PROXY ', 'latin1')
/** The signature, version and command, family and transport, and the length of the rest. */
const fixedBytes = 16
const version2 = 2
const local = 0
const proxy = 1
const unspecified = 0x00
const tcpOverIpv4 = 0x11
const tcpOverIpv6 = 0x21
const ipv4Bytes = 12
const ipv6Bytes = 36

const incomplete: ProxyHeaderReading = { kind: 'incomplete' }
const none: ProxyHeaderReading = { kind: 'none' }

/**
 * Reads the header of the PROXY protocol from a connection's first bytes, as far as they are there
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.2). It never throws, and keeps nothing of
 * `bytes`.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeaderReading {
  if (beginsLike(bytes, textForm))
    return bytes.length < textForm.length ? incomplete : faulty(ProxyHeaderFault.TextForm)
  if (!beginsLike(bytes, signature)) return none
  if (bytes.length < fixedBytes) return incomplete
  const versionAndCommand = bytes.readUInt8(signature.length)
  const command = versionAndCommand & 0x0f
  const protocol = bytes.readUInt8(signature.length + 1)
  const length = bytes.readUInt16BE(signature.length + 2)
  if (versionAndCommand >> 4 !== version2) return faulty(ProxyHeaderFault.Version)
  if (command !== local && command !== proxy) return faulty(ProxyHeaderFault.Command)
  if (length > maxProxyHeaderBytes) return faulty(ProxyHeaderFault.TooLong)
  const end = fixedBytes + length
  const speaksForItself = command === local || protocol === unspecified
  if (speaksForItself)
    return bytes.length < end ? incomplete : { kind: 'header', bytes: end, client: undefined }
  if (protocol !== tcpOverIpv4 && protocol !== tcpOverIpv6) return faulty(ProxyHeaderFault.Protocol)
  const isIpv4 = protocol === tcpOverIpv4
  if (length < (isIpv4 ? ipv4Bytes : ipv6Bytes)) return faulty(ProxyHeaderFault.TooShort)
  if (bytes.length < end) return incomplete
  return { kind: 'header', bytes: end, client: isIpv4 ? ipv4In(bytes) : ipv6In(bytes) }
}

function faulty(fault: ProxyHeaderFault): ProxyHeaderReading {
  return { kind: 'faulty', fault }
}

/** Whether the bytes are the first ones of `start`, or begin with all of it. */
function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return bytes.compare(start, 0, length, 0, length) === 0
}

function ipv4In(bytes: Buffer): string {
  return bytes.subarray(fixedBytes, fixedBytes + 4).join('.')
}

/**
 * The address as Node writes that of a socket. An address of IPv4 within IPv6 becomes the address of IPv4.
 */
function ipv6In(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    bytes.readUInt16BE(fixedBytes + 2 * index).toString(16),
  )
  return plainAddress(new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address)
}

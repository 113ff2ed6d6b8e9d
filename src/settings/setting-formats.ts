import { BlockList, isIP } from 'node:net'
import path from 'node:path'
import { hostAndPort, readHostAndPort } from '../domain/host-and-port.ts'
import { sslFlaw } from '../db/ssl-mode.ts'
import { joinedApiPort } from '../domain/host/control-role.ts'
import { hostNetwork } from '../domain/host/private-address.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { PartPlace } from '../domain/platform-part.ts'

/**
 * How the text of a setting is read. Each function takes the variable's name for the error that it throws.
 */

/** A setting has a value that is not permitted. The message names the variable and the permitted values. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export const vmmKinds = ['auto', 'qemu', 'fake'] as const
export const accelerations = ['auto', 'kvm', 'tcg'] as const

const highestPort = 65_535

/** Reads a path. A relative path starts from the directory in which the process was started. */
export function asPath(text: string): string {
  return path.resolve(text)
}

/** The names of settings that are paths. */
const pathName = /^(ROOST_\w+_(DIR|FILE)|TEMPORAL_TLS_\w+_PATH)$/

/** The environment with whole paths, for processes that are started in another directory. */
export function withWholePaths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const whole = (name: string, value: string | undefined) =>
    value !== undefined && value !== '' && pathName.test(name) ? asPath(value) : value
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, whole(name, value)]))
}

export function asText(text: string): string {
  return text
}

export function asHost(text: string, name: string): string {
  if (/[\s/]/.test(text))
    throw new SettingError(`${name} is '${text}'; it has to be an IP address or a host name`)
  return text
}

const domainPattern =
  /^(?=.{1,190}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Reads a domain. It has at most 190 characters, which leaves 63 of the 253 characters of a name for a label
 * and its dot. A final dot has no meaning.
 */
export function asDomain(text: string, name: string): string {
  const domain = text.toLowerCase().replace(/\.$/, '')
  if (!domainPattern.test(domain))
    throw new SettingError(`${name} is '${text}'; it has to be a domain name such as apps.example.com`)
  return domain
}

/** Where parts on other machines find the control plane. */
export interface HostsAddress {
  readonly host: string
  readonly port: number
}

/** Reads an address with or without a port: `192.0.2.10`, `roost.example.com:7443`, `[2001:db8::1]:7443`. */
export function asHostsAddress(text: string, name: string): HostsAddress {
  const at = readHostAndPort(text)
  if (at === undefined)
    throw new SettingError(
      `${name} is '${text}'; write the address at which other machines reach this one, such as 192.0.2.10 or ` +
        'roost.example.com:7443',
    )
  return { host: at.host, port: at.port ?? joinedApiPort }
}

export function asPort(text: string, name: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > highestPort) {
    throw new SettingError(`${name} is '${text}'; it has to be a port, 1 to ${highestPort}`)
  }
  return port
}

/**
 * Reads an offset that is added to public ports, which are 1 to 65535. It has to leave room for port 443.
 */
export function asPortOffset(text: string, name: string): number {
  const offset = Number(text)
  if (!/^\d+$/.test(text) || offset > highestPort - 443) {
    throw new SettingError(`${name} is '${text}'; it has to be a number, 0 to ${highestPort - 443}`)
  }
  return offset
}

/**
 * Reads a limit: a rate or a number of things. It is at least one, because with zero the part could do
 * nothing.
 */
export function asCount(text: string, name: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new SettingError(`${name} is '${text}'; it has to be a whole number, 1 to 999999999`)
  }
  return Number(text)
}

/** More processes than this would use more memory than the machines have that Roost is made for. */
export const mostProcesses = 64

export function asProcesses(text: string, name: string): number {
  if (!/^[1-9]\d?$/.test(text) || Number(text) > mostProcesses) {
    throw new SettingError(`${name} is '${text}'; it has to be a whole number, 1 to ${mostProcesses}`)
  }
  return Number(text)
}

const highestMbit = 100_000

export function asBandwidth(text: string, name: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text) || Number(text) > highestMbit) {
    throw new SettingError(`${name} is '${text}'; it has to be a whole number of Mbit/s, 1 to ${highestMbit}`)
  }
  return Number(text)
}

/** Reads a number of things that may be zero. */
export function asAmount(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new SettingError(`${name} is '${text}'; it has to be a whole number, 0 to 999999999`)
  }
  return Number(text)
}

const smallestFactor = 0.1
const largestFactor = 10

export function asFactor(text: string, name: string): number {
  const factor = Number(text)
  if (!/^\d{1,2}(\.\d{1,3})?$/.test(text) || factor < smallestFactor || factor > largestFactor) {
    throw new SettingError(
      `${name} is '${text}'; it has to be a number such as 1.5, ${smallestFactor} to ${largestFactor}`,
    )
  }
  return factor
}

export function asSwitch(text: string, name: string): boolean {
  if (text !== 'on' && text !== 'off')
    throw new SettingError(`${name} is '${text}'; it has to be 'on' or 'off'`)
  return text === 'on'
}

/** The shortest and the longest time after which a host may count as lost, in seconds. */
const hostLossS = { shortest: 10, longest: 86_400 }

/** A number of seconds, or `off`. */
export function asHostLoss(text: string, name: string): number | 'off' {
  if (text === 'off') return text
  const { shortest, longest } = hostLossS
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= shortest && seconds <= longest) return seconds
  throw new SettingError(
    `${name} is '${text}'; it has to be 'off' or a whole number of seconds from ${shortest} to ${longest}`,
  )
}

/** Reads a switch as Temporal's own tools write it. Undefined if it is not set. */
export function trueOrFalse(text: string, name: string): boolean | undefined {
  if (text !== 'true' && text !== 'false')
    throw new SettingError(`${name} is '${text}'; it has to be 'true' or 'false'`)
  return text === 'true'
}

/** Reads a URL. The error does not repeat the value, because the URL may hold a password. */
export function asUrl(text: string, name: string): string {
  if (!URL.canParse(text)) throw new SettingError(`${name} is not a URL such as scheme://host:port`)
  return text.replace(/\/$/, '')
}

/**
 * Reads the URL of PostgreSQL. The error repeats only the scheme and what is said about TLS, because the URL
 * may hold a password.
 */
export function asPostgresUrl(text: string, name: string): string {
  const wanted = 'it has to be a URL such as postgres://user:password@host:5432/roost'
  if (!URL.canParse(text)) throw new SettingError(`${name} is not a URL; ${wanted}`)
  const { protocol } = new URL(text)
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') {
    throw new SettingError(`${name} begins with '${protocol}'; ${wanted}`)
  }
  const flaw = sslFlaw(text)
  if (flaw !== undefined) throw new SettingError(`${name} ${flaw}`)
  return text.replace(/\/$/, '')
}

/**
 * Reads the URL of a server whose answers nobody on the network path may change, such as an authority for
 * certificates. So it has to be secure.
 */
export function asSecureUrl(text: string, name: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw new SettingError(`${name} is '${text}'; it has to be a URL such as https://host/directory`)
  return text
}

/**
 * Reads a key in base64url, the form in which authorities give keys to their users. The error does not
 * repeat the value.
 */
export function asMacKey(text: string, name: string): string {
  if (!/^[\w-]{16,}={0,2}$/.test(text)) throw new SettingError(`${name} has to be a key in base64url`)
  return text
}

/** One or several addresses, with commas between. */
export function asMailAddresses(text: string, name: string): readonly string[] {
  const addresses = text.split(',').map((address) => address.trim())
  // Only plain addresses are accepted: text after a question mark would become headers of the mail (RFC
  // 8555, 7.3).
  if (!addresses.every((address) => /^[^\s@?,;:]+@[^\s@?,;:]+$/.test(address)))
    throw new SettingError(`${name} is '${text}'; it has to be a mail address, or several with commas`)
  return addresses
}

const defaultDnsPort = 53

/**
 * Reads an IP address, with a port if it is not the usual one: `10.0.0.2`, `10.0.0.2:5353`,
 * `[fd00::2]:5353`.
 */
export function asNameServer(text: string, name: string): string {
  const { host = '', port = defaultDnsPort } = readHostAndPort(text) ?? {}
  if (isIP(host) === 0)
    throw new SettingError(`${name} is '${text}'; it has to be an IP address, or one with a port`)
  return hostAndPort({ host, port })
}

const ipv4InIpv6 = new BlockList()
ipv4InIpv6.addSubnet('::ffff:0:0', 96, 'ipv6')

/**
 * Reads addresses and networks such as `10.0.0.5, 10.1.0.0/16, fd00::/8`. Names are not accepted: nobody
 * could say to which address a name leads when a connection comes. An address of IPv4 is not accepted in the
 * form of IPv6, `::ffff:10.0.0.5`, because connections are compared by their addresses of IPv4.
 */
export function asNetworks(text: string, name: string): readonly string[] {
  return text.split(',').map((entry) => {
    const [address = '', bits, ...more] = entry.trim().split('/')
    const family = address.includes('%') ? 0 : isIP(address)
    const mostBits = family === 4 ? 32 : 128
    const isNumber = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= mostBits)
    const isMapped = family === 6 && ipv4InIpv6.check(address, 'ipv6')
    if (family === 0 || !isNumber || isMapped || more.length > 0)
      throw new SettingError(
        `${name} has '${entry.trim()}'; write IP addresses and networks such as 10.0.0.5, 10.1.0.0/16 or fd00::/8, with commas between them`,
      )
    return entry.trim()
  })
}

/** Reads the IPv4 network of a host, such as `10.64.16.0/20`. */
export function asSubnet(text: string, name: string): string {
  if (hostNetwork(text) === undefined) {
    throw new SettingError(
      `${name} is '${text}'; it has to be a network with 20 bits, such as 10.64.16.0/20, or with 16, such as 10.64.0.0/16`,
    )
  }
  return text
}

export function choice<const T extends string>(permitted: readonly T[]): (text: string, name: string) => T {
  return (text, name) => {
    const found = permitted.find((one) => one === text)
    if (found === undefined) {
      throw new SettingError(`${name} is '${text}'; permitted are ${permitted.join(', ')}`)
    }
    return found
  }
}

const listedParts = [PlatformPart.Api, PlatformPart.Worker, PlatformPart.Gateway]
/** More than an installation has. Each is a target of every Prometheus. */
const mostParts = 100

/** Reads addresses of parts: `api=http://10.0.0.1:7070, gateway=http://10.0.0.2:7073`. */
export function asParts(text: string, name: string): readonly PartPlace[] {
  const wanted = `write ${listedParts.join(', ')} with an address, such as gateway=http://10.0.0.2:7073, with commas between them`
  const places = text.split(',').map((entry): PartPlace => {
    const [, word = '', address = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(entry) ?? []
    const part = listedParts.find((one) => one === word)
    const url = URL.parse(address)
    const isPlain =
      url?.protocol === 'http:' && `${url.username}${url.password}${url.search}${url.hash}` === ''
    if (part === undefined || url === null || !isPlain || url.pathname !== '/')
      throw new SettingError(`${name} has '${entry.trim()}'; ${wanted}`)
    return { part, name: url.host, address: url.origin }
  })
  const names = new Set(places.map((place) => `${place.part} ${place.name}`))
  if (names.size < places.length) throw new SettingError(`${name} names an address of a part twice`)
  if (places.length > mostParts)
    throw new SettingError(`${name} has ${places.length} addresses; there may be ${mostParts}`)
  return places
}

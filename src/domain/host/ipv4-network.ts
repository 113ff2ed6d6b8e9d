/** An IPv4 network: its lowest address as a number, and how many leading bits its addresses share. */
export interface Ipv4Network {
  readonly first: number
  readonly prefixLength: number
}

const networkPattern = /^([\d.]+)\/(\d{1,2})$/
const addressBitCount = 32

/** The number of an address `a.b.c.d`. Undefined if the text is no such address. */
export function ipv4Number(text: string): number | undefined {
  const parts = text.split('.')
  const valid = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)
  return valid ? parts.reduce((number, part) => number * 256 + Number(part), 0) : undefined
}

export function ipv4Text(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
}

/**
 * The network of a text such as 10.64.16.0/20. Undefined if the text is no network, or if the address is not
 * the lowest one of its network.
 */
export function readNetwork(text: string): Ipv4Network | undefined {
  const [, address = '', length = ''] = networkPattern.exec(text) ?? []
  const first = ipv4Number(address)
  const prefixLength = Number(length)
  if (first === undefined || prefixLength > addressBitCount) return undefined
  return first % addressCount({ first, prefixLength }) === 0 ? { first, prefixLength } : undefined
}

export function networkText({ first, prefixLength }: Ipv4Network): string {
  return `${ipv4Text(first)}/${String(prefixLength)}`
}

/** How many addresses a network has, with the first and the last one. */
export function addressCount({ prefixLength }: Ipv4Network): number {
  return 2 ** (addressBitCount - prefixLength)
}

/** Whether two networks have an address in common. */
export function overlap(one: Ipv4Network, other: Ipv4Network): boolean {
  return one.first < other.first + addressCount(other) && other.first < one.first + addressCount(one)
}

/**
 * Private IPv4 addresses and MAC addresses of instances. Each host has a /16. Index 1 is the host itself, 2
 * to 65 534 are instances, the first and the last address belong to the network.
 */
export const hostAddressIndex = 1
export const firstInstanceIndex = 2
export const lastInstanceIndex = 65_534
export const addressesPerSubnet = lastInstanceIndex - firstInstanceIndex + 1

const subnetPattern = /^(\d{1,3})\.(\d{1,3})\.0\.0\/16$/
/** The second octet of the lowest host network: the private networks of hosts are in 10.64.0.0/10. */
const firstSubnetOctet = 64
const subnetCount = 64

/** The address at `index` of a subnet `a.b.0.0/16`. Throws a RangeError on an invalid index or subnet. */
export function privateAddress(subnet: string, index: number): string {
  const [first, second] = subnetOctets(subnet)
  if (!Number.isInteger(index) || index < hostAddressIndex || index > lastInstanceIndex) {
    throw new RangeError(`address index ${index} is not in ${hostAddressIndex} to ${lastInstanceIndex}`)
  }
  return `${first}.${second}.${index >> 8}.${index & 0xff}`
}

/** The `count` indexes from `from` on. After the last index comes the first again. */
export function addressIndexes(from: number, count: number): readonly number[] {
  const start = Math.max(from, firstInstanceIndex) - firstInstanceIndex
  return Array.from(
    { length: Math.min(count, addressesPerSubnet) },
    (_, step) => firstInstanceIndex + ((start + step) % addressesPerSubnet),
  )
}

/** A locally administered address that is as unique as the IP address, so a host needs no table of them. */
export function macAddress(privateIp: string): string {
  const octets = privateIp.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))
  return ['12', 'b0', ...octets].join(':')
}

/** The first network of 10.64.0.0/10 that is not taken, beginning with `preferred`; undefined if all are. */
export function freeSubnet(preferred: string, taken: ReadonlySet<string>): string | undefined {
  if (!taken.has(preferred)) return preferred
  const [, start] = subnetOctets(preferred)
  for (let step = 1; step <= subnetCount; step++) {
    const octet = firstSubnetOctet + ((start - firstSubnetOctet + step + subnetCount) % subnetCount)
    const subnet = `10.${octet}.0.0/16`
    if (!taken.has(subnet)) return subnet
  }
  return undefined
}

/** Whether a host that joins may get this /16. */
export function isHostSubnet(subnet: string): boolean {
  const [first, second] = subnetOctets(subnet)
  return first === 10 && second >= firstSubnetOctet && second < firstSubnetOctet + subnetCount
}

function subnetOctets(subnet: string): readonly [number, number] {
  const match = subnetPattern.exec(subnet)
  const octets = [Number(match?.[1] ?? 256), Number(match?.[2] ?? 256)] as const
  if (octets.some((octet) => octet > 255)) throw new RangeError(`'${subnet}' is not a network a.b.0.0/16`)
  return octets
}

/**
 * The value of a certificate's NameConstraints (RFC 5280, 4.2.1.10), in DER: it permits the DNS names of one
 * domain and below it, and no IP addresses. The certificate library can not make this extension.
 */
export function domainConstraint(domain: string): Buffer {
  const permitted = der(permittedTag, der(sequenceTag, der(dnsNameTag, Buffer.from(domain, 'ascii'))))
  const noAddress = [ipv4Bytes, ipv6Bytes].map((bytes) =>
    // For IP addresses a constraint holds an address and its mask. A mask of zeros covers every address.
    der(sequenceTag, der(ipAddressTag, Buffer.alloc(bytes * 2))),
  )
  return der(sequenceTag, permitted, der(excludedTag, ...noAddress))
}

const sequenceTag = 0x30
const permittedTag = 0xa0
const excludedTag = 0xa1
const dnsNameTag = 0x82
const ipAddressTag = 0x87
const ipv4Bytes = 4
const ipv6Bytes = 16
/**
 * The longest content whose length takes one byte. For a longer content, the first byte says how many bytes
 * the length has.
 */
const shortLength = 0x7f

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const header = length <= shortLength ? [length] : longLength(length)
  return Buffer.concat([Buffer.from([tag, ...header]), content])
}

function longLength(length: number): readonly number[] {
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 + bytes.length, ...bytes]
}

import { gunzipSync } from 'node:zlib'

/**
 * Returns the ELF kernel inside a `vmlinuz`. When it is booted directly, the guest does not have to unpack
 * it, which takes about 350 ms under emulation. Debian's kernel is LZ4 in the legacy framing; gzip works
 * too.
 */
export function extractKernel(image) {
  const lz4 = image.indexOf(Buffer.from([0x02, 0x21, 0x4c, 0x18]))
  if (lz4 >= 0) return checkElf(decodeLz4Legacy(image, lz4 + 4))
  const gzip = image.indexOf(Buffer.from([0x1f, 0x8b, 0x08]))
  if (gzip >= 0) return checkElf(gunzipSync(image.subarray(gzip)))
  throw new Error('the kernel is compressed in a way that is not known here (neither LZ4 nor gzip)')
}

function checkElf(kernel) {
  if (kernel.readUInt32BE(0) !== 0x7f454c46) throw new Error('the unpacked kernel is not an ELF file')
  return kernel
}

const maxBlockBytes = 8 << 20

function decodeLz4Legacy(image, start) {
  const blocks = []
  for (let at = start; at + 4 <= image.length;) {
    const length = image.readUInt32LE(at)
    // The kernel's build appends four bytes with the unpacked size. They are not the length of a block, so
    // the loop ends here.
    if (length === 0 || length > maxBlockBytes || at + 4 + length > image.length) break
    const block = decodeLz4Block(image.subarray(at + 4, at + 4 + length))
    blocks.push(block)
    at += 4 + length
    if (block.length < maxBlockBytes) break
  }
  return Buffer.concat(blocks)
}

function decodeLz4Block(source) {
  const target = Buffer.allocUnsafe(maxBlockBytes)
  let from = 0
  let to = 0
  while (from < source.length) {
    const token = source[from++]
    let literals = token >> 4
    if (literals === 15) [literals, from] = extendLength(source, from, literals)
    source.copy(target, to, from, from + literals)
    from += literals
    to += literals
    if (from >= source.length) break
    const offset = source[from] | (source[from + 1] << 8)
    from += 2
    let length = token & 15
    if (length === 15) [length, from] = extendLength(source, from, length)
    // The copy goes byte by byte, because a match may overlap its own result.
    for (let end = to + length + 4; to < end; to++) target[to] = target[to - offset]
  }
  return target.subarray(0, to)
}

function extendLength(source, from, start) {
  let length = start
  for (let byte = 255; byte === 255;) {
    byte = source[from++]
    length += byte
  }
  return [length, from]
}

const signatureMark = Buffer.from('~Module signature appended~\n')

/** Removes a module's signature, which the kernel would check at every boot but does not insist on. */
export function stripModuleSignature(module) {
  const end = module.length - signatureMark.length
  if (end < 12 || !module.subarray(end).equals(signatureMark)) return module
  return module.subarray(0, end - 12 - module.readUInt32BE(end - 4))
}

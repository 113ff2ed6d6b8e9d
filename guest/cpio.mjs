/** Packs an archive that the kernel unpacks as its first file system (cpio, "newc"). */
export function packCpio(entries) {
  const parts = []
  for (const [index, entry] of [...entries, { name: 'TRAILER!!!', mode: 0 }].entries()) {
    const name = Buffer.from(`${entry.name}\0`)
    const data = entry.data ?? Buffer.alloc(0)
    const fields = [
      index + 1,
      entry.mode,
      0,
      0,
      1,
      0,
      data.length,
      0,
      0,
      entry.major ?? 0,
      entry.minor ?? 0,
      name.length,
      0,
    ]
    const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`
    parts.push(padded(Buffer.concat([Buffer.from(header), name])), padded(data))
  }
  return Buffer.concat(parts)
}

function padded(bytes) {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
}

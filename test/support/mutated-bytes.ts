import type { Tape } from './tape.ts'

const spliced: readonly [string, ...string[]] = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\x00',
  ' ',
  ':',
  '\r\n ',
  '\r\nX: y\r\n',
  '0',
  ';',
  '\t',
]

/** Half of the cases stay as they are. The others are damaged in one to four places. */
export function mutated(bytes: Buffer, tape: Tape): Buffer {
  const choice = tape.below(8)
  let changed = bytes
  for (let count = Math.max(0, choice - 3); count > 0; count -= 1) changed = mutatedOnce(changed, tape)
  return changed
}

function mutatedOnce(bytes: Buffer, tape: Tape): Buffer {
  const at = tape.below(bytes.length + 1)
  const before = bytes.subarray(0, at)
  const after = bytes.subarray(at)
  switch (tape.below(6)) {
    case 0: {
      const copy = Buffer.from(bytes)
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << tape.below(8))
      return copy
    }
    case 1:
      return Buffer.concat([before, Buffer.from([tape.next()]), after])
    case 2:
      return Buffer.concat([before, after.subarray(1 + (tape.oneIn(4) ? tape.below(24) : 0))])
    case 3:
      return Buffer.concat([before, after.subarray(0, 1 + tape.below(24)), after])
    case 4: {
      const copy = Buffer.from(bytes)
      if (at < copy.length) copy[at] = tape.next()
      return copy
    }
    default:
      return Buffer.concat([before, Buffer.from(tape.pick(spliced), 'latin1'), after])
  }
}

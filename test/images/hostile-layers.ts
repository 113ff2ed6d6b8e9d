import { gzipSync, zstdCompressSync } from 'node:zlib'
import { TarKind } from '../../src/host/images/tar-entry.ts'
import type { TarEntry } from '../../src/host/images/tar-entry.ts'
import { tarHeader, tarPadding } from '../../src/host/images/tar-writer.ts'

/**
 * Layers that cost a host much work and have hardly any content. They are not stored in the repository: tests
 * make them when they need them.
 */

function repeated(part: Buffer, count: number): Buffer {
  return Buffer.alloc(part.length * count, part)
}

export function entry(name: string, fields: Partial<TarEntry> = {}): TarEntry {
  const plain = { kind: TarKind.File, mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0, size: 0, linkName: '' }
  return { ...plain, xattrs: new Map(), ...fields, name }
}

/** A tar header of any type, with the body that follows it. */
function block(type: string, fields: { readonly size?: number; readonly body?: Buffer } = {}): Buffer {
  const body = fields.body ?? Buffer.alloc(0)
  const header = tarHeader(entry('x', { size: fields.size ?? body.length }))
  header.write(type, 156, 'latin1')
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, body, tarPadding(body.length)])
}

function pax(records: string): Buffer {
  return block('x', { body: Buffer.from(records) })
}

export function entries(count: number, of: (index: number) => TarEntry): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => tarHeader(of(index))))
}

const honest = tarHeader(entry('honest'))

/** A layer of empty zstd frames before the first byte of content. Another `seed` gives it another digest. */
export function emptyFrames(count: number, seed = ''): Buffer {
  const frame = zstdCompressSync(Buffer.alloc(0))
  return Buffer.concat([repeated(frame, count), zstdCompressSync(tarHeader(entry(`content${seed}`)))])
}

const deepDirectory = Array.from({ length: 400 }, () => 'd').join('/')

export interface HostileLayers {
  readonly title: string
  /** The layers, from the lowest on. */
  readonly layers: () => readonly Buffer[]
  readonly message: RegExp
}

/** Layers that every host refuses: they are over a limit, malformed, or of a form that is not supported. */
export const refusedLayers: readonly HostileLayers[] = [
  {
    title: 'two million empty zstd frames',
    layers: () => [emptyFrames(2_000_000)],
    message: /consists of empty parts/,
  },
  {
    title: 'two million zstd frames to be skipped',
    layers: () => [
      Buffer.concat([zstdCompressSync(honest), repeated(Buffer.from('502a4d1800000000', 'hex'), 2_000_000)]),
    ],
    message: /consists of empty parts/,
  },
  {
    title: 'a million empty gzip members',
    layers: () => [repeated(gzipSync(Buffer.alloc(0)), 1_000_000)],
    message: /consists of empty parts/,
  },
  {
    title: 'a gzip member of empty blocks',
    layers: () => [
      Buffer.concat([
        Buffer.from('1f8b0800000000000003', 'hex'),
        repeated(Buffer.from('000000ffff', 'hex'), 1_000_000),
      ]),
    ],
    message: /consists of empty parts/,
  },
  {
    title: '10 000 headers for one entry',
    layers: () => [repeated(block('x'), 10_000)],
    message: /more than 16 extension headers/,
  },
  {
    title: '10 000 headers for the whole archive',
    layers: () => [repeated(block('g', { body: Buffer.from('12 a=bcdefg\n') }), 10_000)],
    message: /more than 16 extension headers/,
  },
  {
    title: 'a long name of 2 MiB',
    layers: () => [gzipSync(block('L', { body: Buffer.alloc(2 * 1024 * 1024, 'n') }))],
    message: /an extension header of 2097152 bytes is over 1048576/,
  },
  {
    title: 'an extension header of many records',
    layers: () => [pax('6 a=b\n'.repeat(100_000))],
    message: /has over 1024 records/,
  },
  {
    title: 'a size in an extension header that is larger than the archive',
    layers: () => [Buffer.concat([pax('25 size=9007199254740991\n'), honest])],
    message: /ends in the middle/,
  },
  {
    title: 'a size in an extension header that is no number',
    layers: () => [Buffer.concat([pax('11 size=-1\n'), honest])],
    message: /'size' is not a number/,
  },
  {
    title: 'a size beyond all numbers',
    layers: () => [Buffer.concat([pax('28 size=99999999999999999999\n'), honest])],
    message: /'size' is not a number/,
  },
  {
    title: 'a sparse file of GNU',
    layers: () => [block('S')],
    message: /unknown type "S"/,
  },
  {
    title: 'a sparse file in an extension header',
    layers: () => [Buffer.concat([pax('30 GNU.sparse.size=1000000000\n'), honest])],
    message: /sparse archive entries are not supported/,
  },
  {
    title: 'a symbolic link with a target of 5000 bytes',
    layers: () => [tarHeader(entry('link', { kind: TarKind.Symlink, linkName: 't'.repeat(5_000) }))],
    message: /symbolic link target .* is not usable/,
  },
  {
    title: '60 000 entries below a link to a deep directory, whose path is followed for each',
    layers: () => [
      Buffer.concat([
        tarHeader(entry(`${deepDirectory}/f`)),
        tarHeader(entry('short', { kind: TarKind.Symlink, linkName: deepDirectory })),
        entries(60_000, (index) => entry(`short/f${index}`)),
      ]),
    ],
    message: /pass more than 20000000 directories/,
  },
]

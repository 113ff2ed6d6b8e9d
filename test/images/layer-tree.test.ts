import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { createLayerTree } from '../../src/host/images/layer-tree.ts'
import { mergedEntries } from '../../src/host/images/merged-entries.ts'
import { LayerError, TarKind } from '../../src/host/images/tar-entry.ts'
import type { TarEntry } from '../../src/host/images/tar-entry.ts'

const limits = { maxEntries: 1000, maxMetadataBytes: 100_000, maxPathSteps: 100_000 }

function entry(name: string, fields: Partial<TarEntry> = {}): TarEntry {
  const plain = { kind: TarKind.File, mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0, size: 1, linkName: '' }
  return { ...plain, xattrs: new Map(), ...fields, name }
}

const file = (name: string, size = 1) => entry(name, { size })
const directory = (name: string, mode = 0o755) => entry(name, { kind: TarKind.Directory, mode, size: 0 })
const symlink = (name: string, linkName: string) => entry(name, { kind: TarKind.Symlink, linkName, size: 0 })
const hardLink = (name: string, linkName: string) =>
  entry(name, { kind: TarKind.HardLink, linkName, size: 0 })

function merge(...layers: readonly (readonly TarEntry[])[]) {
  const tree = createLayerTree(limits)
  for (const layer of layers) {
    tree.beginLayer()
    for (const [ordinal, item] of layer.entries()) tree.add(item, ordinal)
  }
  return mergedEntries(tree.root, { layers: layers.length, maxPathsBytes: limits.maxMetadataBytes })
}

/** Every merged path: `d/` is a directory, `a#1` a file from layer 1, `b=a` a hard link to `a`. */
function names(...layers: readonly (readonly TarEntry[])[]): string[] {
  const { plain, files, hardLinks } = merge(...layers)
  return [
    ...plain.map(({ name, kind }) => (kind === TarKind.Directory ? `${name}/` : name)),
    ...files.flatMap((found, layer) => [...found.values()].map(({ name }) => `${name}#${layer}`)),
    ...hardLinks.map(({ name, linkName }) => `${name}=${linkName}`),
  ].sort()
}

describe('laying layers over each other', () => {
  it('a file of a higher layer replaces the one below', () => {
    assert.deepEqual(names([file('a'), file('b')], [file('a')]), ['a#1', 'b#0'])
  })

  it('a white-out removes what lower layers have, with everything below it', () => {
    assert.deepEqual(names([file('d/a'), file('d/e/b'), file('c')], [file('.wh.d')]), ['c#0'])
  })

  it('a white-out does not touch what its own layer brings, before or after it', () => {
    assert.deepEqual(names([file('a'), file('b')], [file('a'), file('.wh.a'), file('.wh.b'), file('b')]), [
      'a#1',
      'b#1',
    ])
  })

  it('an opaque directory hides what lower layers have in it and keeps what its own layer has', () => {
    const lower = [file('d/a'), file('d/sub/b'), file('d/sub/c')]
    const upper = [file('d/new'), directory('d'), file('d/.wh..wh..opq'), file('d/sub/c')]
    assert.deepEqual(names(lower, upper), ['d/', 'd/new#1', 'd/sub/', 'd/sub/c#1'])
  })

  it('a white-out of something that is not there changes nothing', () => {
    assert.deepEqual(names([file('a')], [file('.wh.b'), file('x/.wh.y'), file('.wh.')]), ['a#0'])
  })

  it('no white-out and no file of a storage driver is left in the image', () => {
    assert.deepEqual(names([file('.wh..wh.aufs'), file('.wh..wh.plnk/1'), file('a')]), ['a#0'])
  })

  it('a directory named again keeps what is in it and takes the new mode', () => {
    const { plain } = merge([directory('d'), file('d/a')], [directory('d', 0o700)])
    assert.deepEqual(
      plain.map(({ name, mode }) => [name, mode]),
      [['d', 0o700]],
    )
    assert.deepEqual(names([directory('d'), file('d/a')], [directory('d', 0o700)]), ['d/', 'd/a#0'])
  })

  it('a file replaces a directory with all below it, and the other way round', () => {
    assert.deepEqual(names([file('x/a')], [file('x')]), ['x#1'])
    assert.deepEqual(names([file('x')], [directory('x'), file('x/a')]), ['x/', 'x/a#1'])
  })

  it('a hard link keeps the content that it was made for, when its target is replaced or removed above', () => {
    const lower = [file('a'), hardLink('b', 'a')]
    assert.deepEqual(names(lower), ['a#0', 'b=a'])
    assert.deepEqual(names(lower, [file('a')]), ['a#1', 'b#0'])
    assert.deepEqual(names(lower, [file('.wh.a')]), ['b#0'])
  })

  it('a hard link may have its target in a lower layer', () => {
    assert.deepEqual(names([file('a')], [hardLink('b', './a')]), ['a#0', 'b=a'])
  })

  it('an entry below a symbolic link lands where the link leads, within the image', () => {
    assert.deepEqual(names([symlink('bin', 'usr/bin'), file('usr/bin/a')], [file('bin/b')]), [
      'bin',
      'usr/',
      'usr/bin/',
      'usr/bin/a#0',
      'usr/bin/b#1',
    ])
    assert.deepEqual(names([symlink('out', '../../../etc'), file('out/passwd')]), [
      'etc/',
      'etc/passwd#0',
      'out',
    ])
    assert.deepEqual(names([symlink('out', '/etc'), file('out/passwd')]), ['etc/', 'etc/passwd#0', 'out'])
  })

  it('device files are left out, and so are the files that they replace', () => {
    const device = entry('dev/sda', { kind: TarKind.Device })
    assert.deepEqual(names([file('dev/sda')], [device]), ['dev/'])
  })

  it('the set-user-ID bit is kept; attributes that control an overlay are not', () => {
    const xattrs = new Map(
      ['user.a', 'security.capability', 'trusted.overlay.opaque'].map((key) => [key, Buffer.of(1)]),
    )
    const [kept] = merge([entry('su', { mode: 0o4755, xattrs })]).files[0]?.values() ?? []
    assert.equal(kept?.mode, 0o4755)
    assert.deepEqual([...(kept?.xattrs.keys() ?? [])], ['user.a', 'security.capability'])
  })
})

describe('refusing layers', () => {
  const refused: [title: string, layer: TarEntry[], message: RegExp][] = [
    ['a path that climbs', [file('a/../../etc/passwd')], /leaves the image/],
    ['a hard link that climbs', [hardLink('a', '../../etc/passwd')], /leaves the image/],
    ['a hard link to what is not in the image', [hardLink('a', '/etc/passwd')], /not a file of the image/],
    ['a hard link to a directory', [directory('d'), hardLink('a', 'd')], /not a file of the image/],
    ['a file as a directory', [file('a'), file('a/b')], /can not be resolved/],
    ['a circle of links', [symlink('a', 'b'), symlink('b', 'a'), file('a/c')], /can not be resolved/],
    ['a root that is a file', [file('./')], /root of the image/],
    ['an empty link', [symlink('a', '')], /not usable/],
    ['a name over 255 bytes', [file('n'.repeat(256))], /over 255 bytes/],
    ['a path over 4096 bytes', [file('n/'.repeat(2100))], /over 4096/],
    ['an owner that does not exist', [entry('a', { uid: 2 ** 32 })], /owner/],
    ['a tree without end', [file(`${'d/'.repeat(600)}a`)], /levels deep/],
  ]
  for (const [title, layer, message] of refused) {
    it(`${title} is refused`, () => {
      assert.throws(
        () => merge(layer),
        (error) => error instanceof LayerError && message.test(error.message),
      )
    })
  }

  it('more entries than the limit are refused, and directories that only paths name count too', () => {
    const many = Array.from({ length: 1001 }, (_, index) => file(`f${index}`))
    assert.throws(() => merge(many), /more than 1000 entries/)
    const implied = Array.from({ length: 20 }, (_, index) => file(`${`d${index}/`.repeat(60)}a`))
    assert.throws(() => merge(implied), /more than 1000 entries/)
  })

  it('names that add up to more memory than the limit are refused', () => {
    const long = Array.from({ length: 500 }, (_, index) => file(`${'n'.repeat(240)}${index}`))
    assert.throws(() => merge(long), /over 100000 bytes/)
  })

  it('entries that all lead through a link to a deep directory are refused, though each path is short', () => {
    const deep = 'd/'.repeat(200)
    const many = Array.from({ length: 600 }, (_, index) => file(`s/f${index}`))
    assert.throws(() => merge([file(`${deep}x`), symlink('s', deep), ...many]), /pass more than 100000/)
  })

  it('many white-outs of one directory cost no more than one', () => {
    const lower = Array.from({ length: 300 }, (_, index) => file(`d/f${index}`))
    const hiding = Array.from({ length: 600 }, () => file('d/.wh..wh..opq'))
    assert.deepEqual(names(lower, [...hiding, file('d/own')]), ['d/', 'd/own#1'])
    assert.equal(names([], [...lower, ...hiding]).length, 301)
  })

  it('paths that grow through links add up against the same limit', () => {
    const deep = 'd/'.repeat(200)
    const links = [file(`${deep}x`), symlink('s', deep)]
    const many = Array.from({ length: 400 }, (_, index) => file(`s/f${index}`))
    assert.throws(() => merge([...links, ...many]), /paths of the image are over/)
  })
})

/**
 * The files that layers leave, by a simpler rule than that of the code under test: a path is there if the
 * highest layer that mentions the path or one of its parents adds it.
 */
function expected(layers: readonly Operation[][]): string[] {
  let present = new Map<string, number>()
  for (const [index, operations] of layers.entries()) {
    const removed = operations.flatMap(({ kind, path }) => (kind === 'remove' ? [path] : []))
    const emptied = operations.flatMap(({ kind, path }) => (kind === 'empty' ? [path] : []))
    const survives = (path: string) =>
      !removed.some((gone) => path === gone || path.startsWith(`${gone}/`)) &&
      !emptied.some((gone) => path.startsWith(`${gone}/`))
    present = new Map([...present].filter(([path]) => survives(path)))
    for (const { kind, path } of operations) if (kind === 'add') present.set(path, index)
  }
  return [...present].map(([path, layer]) => `${path}#${layer}`).sort()
}

interface Operation {
  readonly kind: 'add' | 'remove' | 'empty'
  readonly path: string
}

function toEntry({ kind, path }: Operation): TarEntry {
  if (kind === 'add') return file(path)
  if (kind === 'empty') return file(`${path}/.wh..wh..opq`)
  const slash = path.lastIndexOf('/') + 1
  return file(`${path.slice(0, slash)}.wh.${path.slice(slash)}`)
}

describe('any layers', () => {
  it('leave exactly the files that the rules leave, in whatever order a layer lists them', () => {
    // No directory has the name of a file here. Otherwise a file could stand where a directory is needed,
    // which the simpler rule does not cover.
    const parent = fc.constantFrom('', 'd0/', 'd1/', 'd0/d1/', 'd1/d0/')
    const path = fc.tuple(parent, fc.constantFrom('f0', 'f1')).map(([above, name]) => `${above}${name}`)
    const directoryPath = fc.constantFrom('d0', 'd1', 'd0/d1', 'd1/d0')
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), path }),
      fc.record({ kind: fc.constant('remove' as const), path: fc.oneof(path, directoryPath) }),
      fc.record({ kind: fc.constant('empty' as const), path: directoryPath }),
    )
    const layers = fc.array(fc.array(operation, { maxLength: 8 }), { maxLength: 5 })
    fc.assert(
      fc.property(layers, (stack) => {
        const found = names(...stack.map((operations) => operations.map(toEntry)))
        assert.deepEqual(
          found.filter((name) => name.includes('#')),
          expected(stack),
        )
      }),
      { numRuns: 500 },
    )
  })
})

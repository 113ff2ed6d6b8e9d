import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { maxMountPathBytes, parseMountPath } from '../../../src/domain/volume/mount-path.ts'

/** The control characters of ASCII (C0 and DEL) and of Unicode (C1, U+0080 to U+009F). */
const controls = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
].flatMap(([from = 0, to = 0]) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)),
)

describe('a mount path', () => {
  const accepted: readonly (readonly [string, string])[] = [
    ['/data', '/data'],
    ['/data/', '/data'],
    ['//var///lib//app/', '/var/lib/app'],
    ['/a b', '/a b'],
    ['/...', '/...'],
    ['/.hidden/..x', '/.hidden/..x'],
    ['/ä/€/😀', '/ä/€/😀'],
    ['/devices', '/devices'],
    ['/process/dev', '/process/dev'],
    ['/ukulele', '/ukulele'],
    ['/mnt/proc', '/mnt/proc'],
    ["/it's\\here", "/it's\\here"],
  ]
  for (const [text, at] of accepted) {
    it(`may be ${text}`, () => {
      assert.deepEqual(parseMountPath(text), { ok: true, at })
    })
  }

  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /be absolute/],
    ['data', /be absolute/],
    ['./data', /be absolute/],
    [' /data', /be absolute/],
    ['/', /be a directory below '\/'/],
    ['///', /be a directory below '\/'/],
    ['/.', /no component '\.' or '\.\.'/],
    ['/a/./b', /no component '\.' or '\.\.'/],
    ['/a/..', /no component '\.' or '\.\.'/],
    ['/../etc', /no component '\.' or '\.\.'/],
    ['/a:b', /no colon/],
    ['/:', /no colon/],
    ['/proc', /not lie in '\/proc'/],
    ['//sys//kernel', /not lie in '\/sys'/],
    ['/dev/shm', /not lie in '\/dev'/],
    ['/uk/libukp', /not lie in '\/uk'/],
    ['/a\ud800', /valid Unicode/],
  ]
  for (const [text, must] of refused) {
    it(`may not be ${JSON.stringify(text)}`, () => {
      const outcome = parseMountPath(text)
      assert.ok(!outcome.ok)
      assert.match(outcome.must, must)
    })
  }

  it('holds no NUL and no other control character, wherever it stands', () => {
    for (const control of controls) {
      for (const text of [`/${control}`, `/a${control}b`, `/a/${control}`]) {
        assert.deepEqual(parseMountPath(text), { ok: false, must: 'have no control characters' })
      }
    }
  })

  it('is as long as Linux and ext4 allow, counted in bytes', () => {
    const name = 'é'.repeat(127) + 'x'
    assert.ok(parseMountPath(`/${name}`).ok)
    assert.ok(!parseMountPath(`/${name}x`).ok)
    const whole = '/a'.repeat((maxMountPathBytes - 1) / 2) + '/'
    assert.ok(parseMountPath(whole).ok)
    const longest = '/a'.repeat((maxMountPathBytes - 3) / 2) + '/bb'
    assert.equal(Buffer.byteLength(longest), maxMountPathBytes)
    assert.deepEqual(parseMountPath(longest), { ok: true, at: longest })
    assert.ok(!parseMountPath(`${longest}c`).ok)
  })

  const part = fc.oneof(
    fc.constantFrom(
      'a',
      'data',
      '.',
      '..',
      '...',
      '',
      'proc',
      'sys',
      'dev',
      'uk',
      ':',
      'a:b',
      '\0',
      '\n',
      '\ud800',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  )
  const path = fc
    .tuple(fc.boolean(), fc.array(part, { maxLength: 6 }))
    .map(([absolute, parts]) => `${absolute ? '/' : ''}${parts.join('/')}`)

  it('that is accepted names the same directory in one way, and stays as it is', () => {
    let accepted = 0
    fc.assert(
      fc.property(path, (text) => {
        const outcome = parseMountPath(text)
        if (!outcome.ok) {
          assert.doesNotMatch(outcome.must, /undefined|\.$/)
          return
        }
        accepted++
        const { at } = outcome
        assert.deepEqual(parseMountPath(at), { ok: true, at })
        assert.match(at, /^(\/[^/:\0]+)+$/)
        assert.deepEqual(
          at.split('/').slice(1),
          text.split('/').filter((component) => component !== ''),
        )
      }),
      { numRuns: 2_000 },
    )
    assert.ok(accepted > 100, `only ${accepted} were accepted`)
  })

  it('is refused for what its rules name, and for nothing else', () => {
    fc.assert(
      fc.property(path, (text) => {
        const parts = text.split('/').filter((component) => component !== '')
        const first = parts[0] ?? ''
        const allowed =
          text.startsWith('/') &&
          parts.length > 0 &&
          ![':', ...controls].some((character) => text.includes(character)) &&
          text.isWellFormed() &&
          !parts.includes('.') &&
          !parts.includes('..') &&
          !['proc', 'sys', 'dev', 'uk'].includes(first)
        assert.equal(parseMountPath(text).ok, allowed)
      }),
      { numRuns: 2_000 },
    )
  })
})

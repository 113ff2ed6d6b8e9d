import assert from 'node:assert/strict'
import { instanceCheck } from '../../../src/domain/rollout/check.ts'

const check = { port: 8080, path: '/health', status: 200, timeoutMs: 2_000 }

/** What is wrong with a check. */
function complaint(value: unknown): string {
  const read = instanceCheck(value)
  assert.ok(typeof read === 'string', JSON.stringify(value))
  return read
}

describe('a check, as it is read', () => {
  it('has what it needs and nothing more', () => {
    const { status: _, ...anyStatus } = check
    const { path: _path, ...portAlone } = anyStatus
    for (const sound of [check, anyStatus, portAlone]) {
      assert.deepEqual(instanceCheck(sound), sound)
      assert.deepEqual(instanceCheck({ ...sound, host: '10.64.0.9', body: 'x' }), sound)
    }
  })

  it('is bounded, and each bound is part of what is permitted', () => {
    const bounds = {
      port: [1, 65_535],
      status: [200, 599],
      timeoutMs: [100, 30_000],
    } as const
    for (const [name, [least, most]] of Object.entries(bounds)) {
      for (const value of [least, most]) {
        const sound = { ...check, [name]: value }
        assert.deepEqual(instanceCheck(sound), sound)
      }
      for (const value of [least - 1, most + 1, least + 0.5, String(least), null])
        assert.equal(
          instanceCheck({ ...check, [name]: value }),
          `'${name}' must be a whole number from ${least} to ${most}, but is ${JSON.stringify(value)}`,
        )
    }
    const longest = `/${'x'.repeat(255)}`
    assert.deepEqual(instanceCheck({ ...check, path: longest }), { ...check, path: longest })
    assert.match(complaint({ ...check, path: `${longest}x` }), /^'path' must be '\/' and up to 255/)
  })

  it('has a path that is one line of a request', () => {
    for (const path of ['/', '/a?b=c&d="e"', '/%20', '/~a/../b'])
      assert.deepEqual(instanceCheck({ ...check, path }), { ...check, path })
    for (const path of ['', 'health', 'http://10.64.0.9/', '/a b', '/a\r\nHost: b', '/a#b', '/ä', '/\x7f', 7])
      assert.match(complaint({ ...check, path }), /^'path' must be/, String(path))
  })

  it('has a status only with a path, and is an object', () => {
    assert.match(complaint({ port: 1, timeoutMs: 100, status: 200 }), /only for a check with/)
    for (const none of [undefined, null, [], 'x', 1])
      assert.equal(instanceCheck(none), 'a check must be an object')
    assert.match(complaint({}), /^'port' must be .* but is absent$/)
  })

  it('has an error that repeats a long value only in part', () => {
    const error = complaint({ ...check, path: 'x'.repeat(100_000) })
    assert.ok(error.length < 300, error)
  })
})

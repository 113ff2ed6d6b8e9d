import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { firstFlaw, isPlainText, toPlainText, visibleText } from '../../src/domain/plain-text.ts'

describe('a text', () => {
  const anything = fc.string({
    unit: fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code)),
  })

  it('is plain unless NUL or half of a surrogate pair is in it', () => {
    for (const text of ['', 'a\n', 'ș', '😀']) assert.ok(isPlainText(text))
    for (const text of ['\0', 'a\0b', '\ud83d', '\ude00', '\ude00\ud83d']) assert.ok(!isPlainText(text))
    assert.deepEqual(['a', 'a\0', 'ab\udc00'].map(firstFlaw), ['', 'U+0000', 'U+DC00'])
  })

  it('can be made plain and shown, and one that is plain stays as it is', () => {
    fc.assert(
      fc.property(anything, (text) => {
        assert.ok(isPlainText(toPlainText(text)))
        if (isPlainText(text)) assert.equal(toPlainText(text), text)
        assert.equal(firstFlaw(text) === '', isPlainText(text))
        assert.ok(!/[\p{Cc}\p{Cs}]/u.test(visibleText(text)))
      }),
    )
    assert.equal(visibleText('a\0\u001b[1m\ud800😀'), String.raw`a\u0000\u001b[1m\ud800😀`)
  })
})

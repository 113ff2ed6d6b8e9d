import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import {
  createSecretBox,
  generateSecretKey,
  parseSecretKey,
  SecretBoxError,
  secretKeyBytes,
} from '../../src/db/secret-box.ts'

const [oldKey, newKey] = [randomBytes(secretKeyBytes), randomBytes(secretKeyBytes)]

describe('the secret box', () => {
  const box = createSecretBox(oldKey)

  it('opens what it sealed, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (plain, context) => {
        const sealed = box.seal(plain, context)
        assert.equal(box.open(sealed, context), plain)
      }),
    )
  })

  it('seals the same text differently each time, and does not show it', () => {
    const [first, second] = [box.seal('correct-horse', 'x'), box.seal('correct-horse', 'x')]
    assert.notEqual(first, second)
    assert.ok(!Buffer.from(first.split('.')[1]!, 'base64').includes('correct-horse'))
  })

  it('opens nothing for another context', () => {
    const sealed = box.seal('secret', 'instance-env/a')
    assert.throws(() => box.open(sealed, 'instance-env/b'), SecretBoxError)
  })

  it('opens nothing that was changed in any byte', () => {
    const [id, text] = box.seal('secret', 'x').split('.')
    const bytes = Buffer.from(text!, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = changed[at]! ^ 1
      assert.throws(() => box.open(`${id}.${changed.toString('base64')}`, 'x'), SecretBoxError)
    }
    for (const text of ['', id!, `${id}.`, `${id}.AAAA`])
      assert.throws(() => box.open(text, 'x'), SecretBoxError)
  })

  it('seals with its first key and still opens what older ones sealed', () => {
    const sealed = box.seal('secret', 'x')
    const rotated = createSecretBox(newKey, oldKey)
    assert.equal(rotated.open(sealed, 'x'), 'secret')
    const again = rotated.seal('secret', 'x')
    assert.equal(createSecretBox(newKey).open(again, 'x'), 'secret')
    assert.throws(() => box.open(again, 'x'), SecretBoxError)
  })

  it('tells neither text nor key when it can not open', () => {
    const sealed = box.seal('correct-horse', 'x')
    assert.throws(
      () => createSecretBox(newKey).open(sealed, 'x'),
      (error: Error) =>
        !error.message.includes('correct-horse') && !error.message.includes(newKey.toString('base64')),
    )
  })

  it('takes keys of 32 bytes in base64 and no others', () => {
    assert.equal(parseSecretKey(`${generateSecretKey()}\n`).length, secretKeyBytes)
    assert.throws(() => parseSecretKey(randomBytes(16).toString('base64')), SecretBoxError)
    assert.throws(() => createSecretBox(randomBytes(31)), SecretBoxError)
  })
})

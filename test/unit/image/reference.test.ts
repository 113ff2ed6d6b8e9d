import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import {
  formatImageReference,
  parseImageReference,
  publicImageReference,
} from '../../../src/domain/image/reference.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

describe('image references', () => {
  const readings: [text: string, registry: string, api: string][] = [
    ['hello', 'official/hello:latest', 'hello:latest'],
    ['hello:1.2', 'official/hello:1.2', 'hello:1.2'],
    ['official/hello', 'official/hello:latest', 'hello:latest'],
    ['official/utils/tunnel:latest', 'official/utils/tunnel:latest', 'official/utils/tunnel:latest'],
    ['ann/app', 'ann/app:latest', 'ann/app:latest'],
    ['index.unikraft.io/ann/app:v1', 'ann/app:v1', 'ann/app:v1'],
    ['oci://index.unikraft.io/official/hello', 'official/hello:latest', 'hello:latest'],
    [`hello@${digest}`, `official/hello@${digest}`, `hello@${digest}`],
    [`ann/app:v1@${digest}`, `ann/app@${digest}`, `ann/app@${digest}`],
  ]
  for (const [text, registry, api] of readings) {
    it(`'${text.replace(digest, 'sha256:…')}' is read as the registry and the API write it`, () => {
      const reference = parseImageReference(text)
      assert.ok(reference)
      assert.equal(formatImageReference(reference), registry)
      assert.equal(publicImageReference(reference), api)
    })
  }

  const refused = [
    '',
    ':latest',
    'Hello',
    '/hello',
    'ann/',
    'ann//app',
    'ann/../app',
    'hello:',
    'hello:a b',
    `hello:${'t'.repeat(129)}`,
    'hello@sha256:abc',
    `hello@${digest.toUpperCase()}`,
    `hello@${digest}@${digest}`,
    'registry.example.com:5000/ann/app:v1',
    `ann/${'a'.repeat(252)}`,
  ]
  for (const text of refused) {
    it(`'${text.slice(0, 40)}' is not a reference`, () => {
      assert.equal(parseImageReference(text), undefined)
    })
  }

  it('what was read and written again is read as the same', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,4})?$/)
    const tag = fc.stringMatching(/^[A-Za-z0-9_][\w.-]{0,20}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 4 }), fc.option(tag), (words, tag) => {
        const reference = parseImageReference(words.join('/') + (tag === null ? '' : `:${tag}`))
        assert.ok(reference)
        assert.deepEqual(parseImageReference(formatImageReference(reference)), reference)
        assert.deepEqual(parseImageReference(publicImageReference(reference)), reference)
      }),
    )
  })
})

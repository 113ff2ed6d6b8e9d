import { strict as assert } from 'node:assert'
import { createProofTokens } from '../../../src/db/service/proof-token.ts'
import { proofRecord, proofZones } from '../../../src/domain/service/domain-proof.ts'

describe('a proof of a domain', () => {
  it('may stand at the name or at a zone above it, and at no single label', () => {
    assert.deepEqual(proofZones('example.com'), ['example.com'])
    assert.deepEqual(proofZones('a.shop.example.com'), [
      'a.shop.example.com',
      'shop.example.com',
      'example.com',
    ])
    assert.equal(proofRecord('example.com'), '_roost-proof.example.com')
  })

  it('of a wildcard stands where that of the name below which it is would stand', () => {
    assert.deepEqual(proofZones('*.shop.example.com'), ['shop.example.com', 'example.com'])
  })

  it('is looked for at few zones, however many labels a name has', () => {
    const deep = `${'a.'.repeat(100)}shop.example.com`
    assert.deepEqual(proofZones(deep), [
      deep,
      'a.a.shop.example.com',
      'a.shop.example.com',
      'shop.example.com',
      'example.com',
    ])
  })

  it('has a token that follows from the user and the key of the installation, and from nothing else', () => {
    const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const tokens = createProofTokens(one)
    const ann = tokens('6f2c6f0e-0000-4000-8000-000000000001')
    assert.match(ann, /^[\w-]{43}$/)
    assert.equal(createProofTokens(one)('6f2c6f0e-0000-4000-8000-000000000001'), ann)
    assert.notEqual(tokens('6f2c6f0e-0000-4000-8000-000000000002'), ann)
    assert.notEqual(createProofTokens(other)('6f2c6f0e-0000-4000-8000-000000000001'), ann)
  })
})

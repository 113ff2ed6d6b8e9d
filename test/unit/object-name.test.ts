import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  generatedInstanceName,
  isUuid,
  maxLabelLength,
  maxNameLength,
  parseObjectName,
  replicaName,
} from '../../src/domain/object-name.ts'

/** The rules of the API document, one by one, instead of the pattern that the implementation uses. */
function keepsTheRules(name: string): boolean {
  if (name.length < 1 || name.length > 121 || /[^A-Za-z0-9.-]/.test(name)) return false
  if (name.endsWith('.') || name.includes('--') || name.includes('..')) return false
  return name
    .split('.')
    .every(
      (label) =>
        label.length >= 1 && label.length <= 63 && /^[A-Za-z]/.test(label) && /[A-Za-z0-9]$/.test(label),
    )
}

const suffix = fc.stringMatching(/^[a-z0-9]{5}$/)
const nearlyNames = fc.string({
  unit: fc.constantFrom('a', 'Z', '7', '-', '.', 'é', ' ', '_', '\u212A'),
  minLength: 0,
  maxLength: 130,
})
const label = fc.stringMatching(/^[a-zA-Z](-?[a-zA-Z0-9]){0,30}$/)
const validNames = fc
  .array(label, { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'))
  .filter((name) => name.length <= maxNameLength)

describe('object names', () => {
  it('are accepted exactly when they keep the rules, and lower-cased', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyNames, validNames), (text) => {
        assert.equal(parseObjectName(text), keepsTheRules(text) ? text.toLowerCase() : undefined)
      }),
    )
  })

  const examples: [text: string, name: string | undefined][] = [
    ['web', 'web'],
    ['WEB.Example', 'web.example'],
    ['a1-b2.c3', 'a1-b2.c3'],
    ['a'.repeat(maxLabelLength), 'a'.repeat(maxLabelLength)],
    ['a'.repeat(maxLabelLength + 1), undefined],
    ['web-', undefined],
    ['web.', undefined],
    ['-web', undefined],
    ['web--1', undefined],
    ['web..1', undefined],
    ['1web', undefined],
    ['web.1', undefined],
    ['we_b', undefined],
    ['șmth', undefined],
    ['\u212Aelvin', undefined],
    ['web\n', undefined],
    ['', undefined],
    [`${'a'.repeat(60)}.${'b'.repeat(60)}`, `${'a'.repeat(60)}.${'b'.repeat(60)}`],
    [`${'a'.repeat(60)}.${'b'.repeat(61)}`, undefined],
  ]
  for (const [text, name] of examples) {
    it(`${JSON.stringify(text.slice(0, 30))} (${text.length}) is ${name === undefined ? 'no name' : 'a name'}`, () => {
      assert.equal(parseObjectName(text), name)
    })
  }

  it('of replicas are names again and end in the suffix', () => {
    fc.assert(
      fc.property(validNames, suffix, (text, suffix) => {
        const name = parseObjectName(text)!
        const replica = replicaName(name, suffix)
        assert.equal(parseObjectName(replica), replica)
        assert.ok(replica.endsWith(`-${suffix}`))
        if (name.length <= 40) assert.equal(replica, `${name}-${suffix}`)
      }),
    )
  })

  it('of replicas are names again where the name is as long as it may be', () => {
    for (const name of [
      `${'a'.repeat(57)}.${'b'.repeat(63)}`,
      'a'.repeat(63),
      `${'a-'.repeat(30)}a`,
      `a.${'b-'.repeat(28)}b`,
    ]) {
      assert.equal(parseObjectName(name), name)
      const replica = replicaName(name, '00000')
      assert.equal(parseObjectName(replica), replica)
    }
  })

  it('that are generated are names, whatever the repository is called', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), suffix, (repository, suffix) => {
        const name = generatedInstanceName(repository, suffix)
        assert.equal(parseObjectName(name), name)
      }),
    )
    assert.equal(generatedInstanceName('official/hello', 'abc12'), 'hello-abc12')
    assert.equal(generatedInstanceName('ann/my_app.v2', 'abc12'), 'my-app-v2-abc12')
    assert.equal(generatedInstanceName('ann/123', 'abc12'), 'app-abc12')
  })

  it('are told from UUIDs in either case', () => {
    assert.ok(isUuid('123E4567-e89b-42d3-a456-426614174000'))
    for (const text of [
      '123e4567e89b42d3a456426614174000',
      '123e4567-e89b-42d3-a456-42661417400',
      'web',
      '',
    ]) {
      assert.ok(!isUuid(text))
    }
  })
})

import { strict as assert } from 'node:assert'
import { changeForms, plainChange } from '../../../src/contract/request/plain-change.ts'
import { operations } from '../../../src/contract/operations.ts'
import { messages, parse } from '../../support/parsed-requests.ts'

const where = { props: ['tags', 'size'], clearable: ['tags'], place: 'arguments', prefix: '[1].' }
const plain = (item: unknown) => {
  const read = plainChange(item, where)
  assert.equal(read.problem, undefined)
  return read.item
}
const refusal = (item: unknown) => plainChange(item, where).problem?.message

describe('a change of one property', () => {
  it('means the same as its plain form, which keeps what stands beside it', () => {
    const named = { uuid: 'u', id: '7' }
    assert.deepEqual(plain({ ...named, prop: 'size', op: 'set', value: 3 }), { ...named, size: 3 })
    assert.deepEqual(plain({ ...named, prop: 'tags', op: 'add', value: ['a'] }), {
      ...named,
      add: { tags: ['a'] },
    })
    assert.deepEqual(plain({ ...named, prop: 'tags', op: 'del', value: ['a'] }), {
      ...named,
      del: { tags: ['a'] },
    })
  })

  it('clears the property if it has no value, and adds nothing then', () => {
    for (const value of [{}, { value: null }]) {
      assert.deepEqual(plain({ prop: 'tags', op: 'set', ...value }), { clear: ['tags'] })
      assert.deepEqual(plain({ prop: 'tags', op: 'del', ...value }), { clear: ['tags'] })
      assert.deepEqual(plain({ prop: 'tags', op: 'add', ...value }), {})
    }
    assert.deepEqual(plain({ prop: 'size', op: 'set', value: 0 }), { size: 0 })
    assert.equal(refusal({ prop: 'size', op: 'set' }), "Missing '[1].value' in arguments")
    assert.equal(refusal({ prop: 'size', op: 'del', value: null }), "Missing '[1].value' in arguments")
    assert.deepEqual(plain({ prop: 'tags', op: 'set', value: '' }), { tags: '' })
  })

  it('is left as it is if it has the plain form already, or is no object', () => {
    for (const item of [{}, { size: 3, add: { tags: [] } }, 7, null, 'prop', [{ prop: 'size' }]]) {
      assert.equal(plain(item), item)
    }
  })

  it('is refused without a property or without what is to be done, and where either is no text', () => {
    assert.equal(refusal({ op: 'set', value: 3 }), "Missing '[1].prop' in arguments")
    assert.equal(refusal({ prop: null, op: 'set' }), "Missing '[1].prop' in arguments")
    assert.equal(refusal({ prop: 'size' }), "Missing '[1].op' in arguments")
    assert.equal(refusal({ value: 3 }), "Missing '[1].prop' in arguments")
    const wrongType = "'[1].prop' in arguments has type 'array', but expected 'string'"
    assert.equal(refusal({ prop: ['size'], op: 'set' }), wrongType)
    assert.match(refusal({ prop: 'size', op: 7 }) ?? '', /^'\[1\]\.op' in arguments has type 'number'/)
  })

  it('is refused with the words that there are', () => {
    const unknown = "'sizes' is not a valid value for '[1].prop'; valid: tags, size"
    assert.equal(refusal({ prop: 'sizes', op: 'set', value: 3 }), unknown)
    const wrongOp = "'remove' is not a valid value for '[1].op'; valid: set, add, del"
    assert.equal(refusal({ prop: 'size', op: 'remove' }), wrongOp)
    assert.match(refusal({ prop: 'x'.repeat(1_000), op: 'set' }) ?? '', /^'x{64}…' is not/)
  })

  it('can be about no field that would change the meaning of the object', () => {
    for (const prop of [
      'uuid',
      'name',
      'id',
      'add',
      'del',
      'clear',
      '__proto__',
      'constructor',
      'toString',
    ]) {
      assert.match(refusal({ prop, op: 'set', value: {} }) ?? '', /is not a valid value for '\[1\]\.prop'/)
    }
  })

  it('stands alone: no property stands beside it', () => {
    const change = { prop: 'size', op: 'set', value: 3 }
    for (const [key, value] of Object.entries({ tags: [], size: 4, add: {}, del: {}, clear: [] })) {
      const sentence = `'[1].prop' and '[1].${key}' cannot be given together in arguments`
      assert.equal(refusal({ ...change, [key]: value }), sentence)
      assert.equal(refusal({ ...change, [key]: null }), undefined)
    }
  })

  it('gets the same errors as its plain form', () => {
    const problems = (body: object) => messages('updateServices', { body, object: 'web' })
    const pairs: readonly [object, object][] = [
      [{ prop: 'soft_limit', op: 'set', value: 'x' }, { soft_limit: 'x' }],
      [{ prop: 'soft_limit', op: 'add', value: 3 }, { add: { soft_limit: 3 } }],
      [{ prop: 'services', op: 'add', value: [{ port: 0 }] }, { add: { services: [{ port: 0 }] } }],
      [{ prop: 'services', op: 'del', value: ['443'] }, { del: { services: ['443'] } }],
      [{ prop: 'services', op: 'set', value: 7 }, { services: 7 }],
    ]
    for (const [form, same] of pairs) {
      assert.ok(problems(form).length > 0)
      assert.deepEqual(problems(form), problems(same))
    }
  })

  it('may be one of several in local scope, where nothing else may be', () => {
    const body = [
      { prop: 'soft_limit', op: 'set', value: 3, id: 'a' },
      { hard_limit: 9, id: 'b' },
    ]
    const { objects } = parse('updateServices', { body, object: 'web' })
    const target = { by: 'name', value: 'web' }
    assert.partialDeepStrictEqual(objects, [
      { target, parameters: { soft_limit: 3, id: 'a' } },
      { target, parameters: { hard_limit: 9, id: 'b' } },
    ])
    assert.match(
      messages('updateServices', { object: 'web' })[0] ?? '',
      /^The body of the request is missing/,
    )
    assert.match(messages('deleteServices', { body, object: 'web' })[0] ?? '', /expected 'object'/)
  })

  it('is described for each property with what can be done with it', () => {
    const described = changeForms(operations.updateServices, true).map(({ properties, required }) => [
      ...[properties['prop'], properties['op']].flatMap((one) => (one as { enum?: string[] }).enum ?? []),
      ...(required ?? []).filter((key) => key === 'value'),
    ])
    assert.deepEqual(described, [
      ['soft_limit', 'set'],
      ['hard_limit', 'set'],
      ['services', 'set'],
      ['services', 'add'],
      ['services', 'del'],
      ['domains', 'set'],
      ['domains', 'add'],
      ['domains', 'del'],
    ])
  })
})

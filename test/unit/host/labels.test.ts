import assert from 'node:assert/strict'
import { changedLabels, hostLabelKey, labelsText, maxHostLabels } from '../../../src/domain/host/labels.ts'

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']))

describe('labels of a host', () => {
  it('are shown in the order of their keys, and a change leaves all others', () => {
    const after = changedLabels(
      { zone: 'a', disk: 'hdd', old: 'x' },
      { set: { disk: 'nvme', arch: 'x86' }, remove: ['old'] },
    )
    assert.equal(labelsText(after ?? {}), 'arch=x86, disk=nvme, zone=a')
  })

  it('have a key that is set, if a change also removes it', () => {
    assert.deepEqual(changedLabels({ a: '1' }, { set: { a: '2' }, remove: ['a'] }), { a: '2' })
  })

  it('are bounded after the change, not before it', () => {
    const full = many(maxHostLabels)
    assert.equal(changedLabels(full, { set: { more: '' } }), undefined)
    assert.ok(changedLabels(full, { set: { more: '' }, remove: ['k0'] }))
    assert.ok(changedLabels(full, { set: { k0: 'again' } }))
  })

  it('have keys that can not be taken for a removal', () => {
    for (const key of ['a', 'a1', 'example.com/disk-kind', 'a'.repeat(63)])
      assert.match(key, new RegExp(hostLabelKey))
    for (const key of ['', '-', 'a-', '-a', 'A', 'a b', 'a=b', 'a'.repeat(64), '__proto__'])
      assert.doesNotMatch(key, new RegExp(hostLabelKey))
  })
})

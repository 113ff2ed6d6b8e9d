import assert from 'node:assert/strict'
import { readImageLabels } from '../../../src/domain/image/labels.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'

describe('labels of an image', () => {
  it('stand in for memory, processors and the restart policy', () => {
    const labels = { 'roost.memory_mb': '256', 'roost.vcpus': '2', 'roost.restart_policy': 'on-failure' }
    assert.deepEqual(readImageLabels(labels), {
      defaults: { memoryMb: 256, vcpus: 2, restartPolicy: RestartPolicy.OnFailure },
      ignored: [],
    })
  })

  it('of other programs mean nothing here', () => {
    assert.deepEqual(readImageLabels({ maintainer: 'ann', memory_mb: '1' }), { defaults: {}, ignored: [] })
  })

  const wrong: [label: string, value: string][] = [
    ['roost.memory_mb', '0'],
    ['roost.memory_mb', '-1'],
    ['roost.memory_mb', '1.5'],
    ['roost.memory_mb', '1e3'],
    ['roost.memory_mb', '9999999999'],
    ['roost.memory_mb', ''],
    ['roost.vcpus', 'many'],
    ['roost.restart_policy', 'Always'],
    ['roost.memory', '128'],
  ]
  for (const [label, value] of wrong) {
    it(`${label}='${value}' is ignored, with a reason`, () => {
      const { defaults, ignored } = readImageLabels({ [label]: value })
      assert.deepEqual(defaults, {})
      assert.deepEqual(
        ignored.map((one) => one.label),
        [label],
      )
    })
  }

  it('stay in force if another label is wrong', () => {
    const { defaults } = readImageLabels({ 'roost.memory_mb': 'x', 'roost.vcpus': '4' })
    assert.deepEqual(defaults, { vcpus: 4 })
  })
})

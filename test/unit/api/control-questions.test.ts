import { strict as assert } from 'node:assert'
import { controlQuestions } from '../../../src/api/control-questions.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'

describe('questions to workflows for one request', () => {
  it('end with the first one that nobody answers', async () => {
    const asked: string[] = []
    let silences = 0
    const ask = controlQuestions(
      async (uuid) => {
        asked.push(uuid)
        if (uuid === 'b') throw new ControlUnavailable('nobody answers')
        return uuid.toUpperCase()
      },
      () => silences++,
    )
    assert.deepEqual(await ask('a'), { isSilent: false, value: 'A' })
    assert.deepEqual(await ask('b'), { isSilent: true })
    assert.deepEqual(await ask('c'), { isSilent: true })
    assert.deepEqual([asked, silences], [['a', 'b'], 1])
  })

  it('take only silence for silence', async () => {
    const ask = controlQuestions(
      () => Promise.reject(new TypeError('a defect')),
      () => {},
    )
    await assert.rejects(ask('a'), TypeError)
  })
})

import { strict as assert } from 'node:assert'
import { beginSpan, onSpan, span, tellSpans } from '../../../src/primitives/spans.ts'
import type { Span } from '../../../src/primitives/spans.ts'

describe('spans', () => {
  const uuid = 'b2b0a5a4-1c0e-4a53-8ad2-0d4a1c6e9f10'

  it('cost nothing and run the work all the same while nobody listens', async () => {
    assert.equal(await span(uuid, 'test: quiet', async () => 1), 1)
    assert.equal(beginSpan('test: one'), beginSpan('test: other'))
    tellSpans(() => assert.fail('nobody listens'))
  })

  it('tell every step once, with its instance, also if the step fails', async () => {
    const heard: Span[] = []
    onSpan((one) => heard.push(one))
    const end = beginSpan('test: early')
    const failing = span(uuid, 'test: failing', () => Promise.reject(new Error('broken')))
    await assert.rejects(failing, /broken/)
    end(uuid)
    end(uuid)
    tellSpans(() => [{ instance: uuid, name: 'test: elsewhere', startUs: 1, durationUs: 2 }])
    const names = heard.map(({ instance, name }) => [instance, name])
    assert.deepEqual(names, [
      [uuid, 'test: failing'],
      [uuid, 'test: early'],
      [uuid, 'test: elsewhere'],
    ])
    const [failed] = heard
    const nowUs = Date.now() * 1_000
    assert.ok(failed !== undefined && Math.abs(failed.startUs - nowUs) < 60_000_000)
    assert.ok(failed.durationUs >= 0)
  })
})

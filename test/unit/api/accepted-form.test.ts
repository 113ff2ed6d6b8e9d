import { strict as assert } from 'node:assert'
import { selectsText } from '../../../src/api/accepted-form.ts'
import { TextForm } from '../../../src/contract/operation.ts'

describe('the header `Accept`', () => {
  for (const [accept, metrics, explanation] of [
    ['', true, false],
    ['*/*', true, false],
    ['text/*', true, false],
    ['text/plain', true, true],
    ['TEXT/plain; q=0.5', true, true],
    ['text/html, text/plain;version=0.0.4', true, true],
    ['application/json', false, false],
    ['text/plain, Application/JSON', false, false],
    ['application/jsonl', true, false],
  ] as const) {
    it(`selects text or JSON for metrics and explanations: '${accept}'`, () => {
      assert.equal(selectsText(TextForm.Prometheus, accept), metrics)
      assert.equal(selectsText(TextForm.Explanation, accept), explanation)
    })
  }
})

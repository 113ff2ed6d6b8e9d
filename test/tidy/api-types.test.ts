import assert from 'node:assert/strict'
import { apiTypesFile, apiTypesText } from '../support/generated-api-types.ts'
import { textOf } from './sources.ts'

describe('the types of the API', () => {
  it('are what the contract makes of them: run `npm run api-types` after a change', async () => {
    assert.equal(textOf(apiTypesFile), await apiTypesText())
  })
})

import { strict as assert } from 'node:assert'
import {
  findProcessExcess,
  maxProcessBytes,
  maxProcessStringBytes,
} from '../../../src/domain/instance/process-size.ts'

describe('the arguments and the environment of a process', () => {
  it('are counted in bytes, a variable with its name', () => {
    const most = maxProcessStringBytes
    assert.equal(findProcessExcess(['x'.repeat(most)], { AB: 'x'.repeat(most - 3) }), undefined)
    assert.deepEqual(findProcessExcess(['a', 'é'.repeat(most)], {}), {
      what: 'argument 1',
      bytes: 2 * most,
      limit: most,
    })
    assert.deepEqual(findProcessExcess([], { AB: 'x'.repeat(most - 2) }), {
      what: 'variable AB',
      bytes: most + 1,
      limit: most,
    })
  })

  it('have a bound together, in which each counts with the byte that ends it', () => {
    const eighth = 'x'.repeat(maxProcessBytes / 8 - 1)
    const fitting = Array.from({ length: 8 }, () => eighth)
    assert.equal(findProcessExcess(fitting, {}), undefined)
    assert.deepEqual(findProcessExcess([...fitting, ''], {}), {
      what: 'arguments and environment',
      bytes: maxProcessBytes + 1,
      limit: maxProcessBytes,
    })
  })
})

import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { joinArguments, splitArgumentLine } from '../../../src/domain/instance/argument-line.ts'

describe('an argument line', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['', []],
    ['  ', []],
    ['a  b\tc', ['a', 'b', 'c']],
    [`sh -c 'echo "a  b"'`, ['sh', '-c', 'echo "a  b"']],
    [`a"b c"d ''`, ['ab cd', '']],
    [String.raw`a\ b "\"" '\'`, ['a b', '"', '\\']],
    ['$HOME *', ['$HOME', '*']],
  ]
  for (const [line, words] of cases) {
    it(`${JSON.stringify(line)} is ${JSON.stringify(words)}`, () => {
      assert.deepEqual(splitArgumentLine(line), words)
    })
  }

  it('gives back the words that it was joined from', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        assert.deepEqual(splitArgumentLine(joinArguments(words)), words)
      }),
    )
  })
})

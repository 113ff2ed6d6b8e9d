import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readEnvFile } from '../../../../src/commands/compose/env-file.ts'
import { Findings, findingText } from '../../../../src/commands/compose/findings.ts'
import { interpolate } from '../../../../src/commands/compose/interpolation.ts'

const variables = { A: 'one', EMPTY: '' }

describe('variables in a Compose file', () => {
  const expected: readonly (readonly [string, string])[] = [
    ['$A-${A}', 'one-one'],
    ['$$A $${A}', '$A ${A}'],
    ['${A:-x} ${EMPTY:-x} ${NONE:-x}', 'one x x'],
    ['${A-x} ${EMPTY-x} ${NONE-x}', 'one  x'],
    ['${A:+x} ${EMPTY:+x} ${NONE:+x}', 'x  '],
    ['${A+x} ${EMPTY+x} ${NONE+x}', 'x x '],
    ['${A:?why} ${EMPTY?why}', 'one '],
    ['${NONE:-${A}/${OTHER:-b}}', 'one/b'],
    ['${NONE:-a:-b}', 'a:-b'],
    ['[$NONE]', '[]'],
  ]
  for (const [text, result] of expected) {
    it(`${text} is ${result}`, () => {
      const outcome = interpolate(text, variables)
      assert.equal(outcome.ok && outcome.text, result)
    })
  }

  const refused: readonly (readonly [string, RegExp])[] = [
    ['${NONE:?choose one}', /^the variable NONE is needed: choose one$/],
    ['${EMPTY:?}', /^the variable EMPTY is needed$/],
    ['${NONE?}', /^the variable NONE is needed$/],
    ['${A', /has no '}'/],
    ['${A!b}', /expected '\$\{NAME\}'/],
    ['50 $', /is written '\$\$'/],
    [`${'${A1:-'.repeat(20)}${'}'.repeat(20)}`, /nested deeper than 10 levels/],
  ]
  for (const [text, reason] of refused) {
    it(`${text.slice(0, 30)} is refused`, () => {
      const outcome = interpolate(text, variables)
      assert.match(outcome.ok ? '' : outcome.reason, reason)
    })
  }

  it('a variable that is not set and has no default is named', () => {
    const outcome = interpolate('$NONE ${OTHER} $A ${LAST-}', variables)
    assert.deepEqual(outcome.ok && outcome.unset, ['NONE', 'OTHER'])
  })

  it('a text without $ stays as it is, and no text throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const outcome = interpolate(text, variables)
        if (!text.includes('$')) assert.deepEqual(outcome, { ok: true, text, unset: [] })
        assert.equal(typeof outcome.ok, 'boolean')
      }),
    )
  })
})

describe('a file of variables', () => {
  const read = (text: string) => {
    const findings = new Findings()
    const found = readEnvFile(text, { file: '.env', variables: { HERE: 'here', A: 'shell' }, findings })
    return { found, refusals: findings.refusals.map(findingText) }
  }

  it('is read as Compose reads it', () => {
    const lines = [
      '# a comment',
      '',
      'PLAIN=some text # a comment',
      'HASH=a#b',
      '  export WITH_EXPORT=1',
      "SINGLE='$HERE \\n'",
      'DOUBLE="$HERE\\n\\"\\$HERE" # a comment',
      'LINES="one',
      'two"',
      'BEFORE=${PLAIN}!',
      'DEFAULT=${NONE:-x}',
      'EMPTY=',
      'HERE',
      'NOT_HERE',
      'EQUALS=a=b',
    ]
    const { found, refusals } = read(lines.join('\r\n'))
    assert.deepEqual(refusals, [])
    assert.deepEqual(found, {
      PLAIN: 'some text',
      HASH: 'a#b',
      WITH_EXPORT: '1',
      SINGLE: '$HERE \\n',
      DOUBLE: 'here\n"$HERE',
      LINES: 'one\ntwo',
      BEFORE: 'some text!',
      DEFAULT: 'x',
      EMPTY: '',
      HERE: 'here',
      EQUALS: 'a=b',
    })
  })

  it('is refused by the line, without a value', () => {
    assert.deepEqual(read('A=1\nsecret words\n').refusals, ['.env:2: expected NAME=value'])
    assert.deepEqual(read('A="secret\nB=1').refusals, [
      '.env:1: a value that begins with " has no " at its end',
    ])
    assert.deepEqual(read('A=${B:?needed}').refusals, ['.env:1: the variable B is needed: needed'])
    const many = Array.from({ length: 1_001 }, (_, at) => `A${at}=1`).join('\n')
    assert.deepEqual(read(many).refusals, ['.env:1001: there are more than 1000 variables'])
  })
})

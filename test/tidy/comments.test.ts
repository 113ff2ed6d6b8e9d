import assert from 'node:assert/strict'
import { assertNone } from './assert-none.ts'
import { textOf, writtenFiles } from './sources.ts'

const widestColumn = 110

const isComment = /^\s*(\/\/|\/\*|\*( |$))/
/**
 * Matches lines of diagrams, and of tables whose columns stand apart. They may be as wide as they have to
 * be.
 */
const isDrawn = /[─│┌┐└┘►◄▼▲┬┴┼├┤→]|-->|\S {3,}\S/

function isTooWide(line: string): boolean {
  return line.length > widestColumn && isComment.test(line) && !isDrawn.test(line)
}

describe('comments', () => {
  it(`end before column ${widestColumn}`, () => {
    const written = writtenFiles().filter((file) => /\.(ts|tsx|mjs|css|c|h|S)$/.test(file))
    assertNone(
      written.flatMap((file) =>
        textOf(file)
          .split('\n')
          .flatMap((line, index) => (isTooWide(line) ? [`${file}:${index + 1}`] : [])),
      ),
    )
  })

  it('that are wider are found, and diagrams are not', () => {
    const wide = 'word '.repeat(30)
    assert.ok(isTooWide(`// ${wide}`))
    assert.ok(isTooWide(`  /** ${wide} */`))
    assert.ok(isTooWide(`   * ${wide}`))
    assert.ok(!isTooWide(`const text = '${wide}'`))
    assert.ok(!isTooWide(` * stopped ──► starting ${wide}`))
    assert.ok(!isTooWide(` * word     ${wide}`))
  })
})

import assert from 'node:assert/strict'
import path from 'node:path'
import { assertNone } from './assert-none.ts'
import { checkout, isSource, reachedFrom, textOf, writtenFiles } from './sources.ts'

const maximumLines = 400
/** Names that say nothing of what a file holds. */
const emptyNames = /^(utils?|helpers?|common|misc|types|manager|index|shared|stuff)$/
const emptyEndings = /-(utils?|helpers?|manager|misc)$/

const files = writtenFiles()
const sources = files.filter(isSource)
const product = sources.filter((file) => /^(src|workflows|activities|console)\//.test(file))

/** Whether a process or a script starts with this file. */
function isStart(file: string): boolean {
  return (
    /^src\/bin\/([a-z]+|registry-owner)\.(ts|mjs)$/.test(file) ||
    // The bundle of the workflows has what this file leads to, and nothing else.
    file === 'workflows/index.ts' ||
    // The pages of the console have what this file leads to.
    file === 'console/main.tsx' ||
    /^src\/.*\/write-[a-z-]+\.ts$/.test(file) ||
    /^(setup|guest|samples)\/.*\.mjs$/.test(file)
  )
}

function lineCount(file: string): number {
  return textOf(file).trimEnd().split('\n').length
}

describe('files', () => {
  it(`have ${maximumLines} lines at most`, () => {
    const written = files.filter((file) => /\.(ts|tsx|mjs|css|c|h|sh|py)$/.test(file))
    assertNone(
      written.filter((file) => lineCount(file) > maximumLines).map((file) => `${file}: ${lineCount(file)}`),
    )
  })

  it('are named by a noun of the domain, in lower case with hyphens', () => {
    const bad = sources.filter((file) => {
      // The bundler needs one file that exports all workflows, and this is its name.
      if (file === 'workflows/index.ts') return false
      const stem = path.basename(file).replace(/(\.test|\.fixture|\.config)?\.(ts|tsx|mts|mjs)$/, '')
      return !/^[A-Za-z0-9]+(-[a-z0-9]+)*$/.test(stem) || emptyNames.test(stem) || emptyEndings.test(stem)
    })
    assertNone(bad)
  })

  it('export by name, and never everything of another file', () => {
    const bad = sources.filter((file) => /^export (default|\*)/m.test(textOf(file)))
    assertNone(bad)
  })

  it('use no syntax that Node can not erase', () => {
    const bad = sources.filter((file) =>
      /^(export )?(declare )?(const )?(enum|namespace) \w/m.test(textOf(file)),
    )
    assertNone(bad)
  })

  it('name no place of one particular machine', () => {
    const texts = files.filter((file) => file !== 'package-lock.json' && !/\.(bin|gz|xz|tar)$/.test(file))
    assertNone(texts.filter((file) => textOf(file).includes(`${checkout}/`)))
  })

  it('leave no test that is run alone', () => {
    const alone = /\b(describe|it|context)\.only\(/
    assertNone(sources.filter((file) => alone.test(textOf(file))))
  })

  it('compare no part with an empty array, which is a part of every array', () => {
    const parts = /partialDeepStrictEqual\((?:(?!\n {0,8}\}?\)\n)[^])*?: \[\]/
    assertNone(sources.filter((file) => file.startsWith('test/') && parts.test(textOf(file))))
  })

  it('of the product are all reached from a file with which a process or a script starts', () => {
    const reached = reachedFrom(sources.filter(isStart))
    assertNone(product.filter((file) => !reached.has(file)))
  })
})

describe('guarding patterns', () => {
  it('find a default export, a bad name and a dead file where there is one', () => {
    assert.match('export default 1', /^export (default|\*)/m)
    assert.match('utils', emptyNames)
    assert.match('vm-manager', emptyEndings)
    assert.doesNotMatch('service', emptyNames)
  })

  it('take one file of the workflows for a start, so that an unused one beside it is found', () => {
    const workflows = files.filter((file) => file.startsWith('workflows/'))
    assert.ok(workflows.length > 1)
    assert.deepEqual([...workflows, 'workflows/unused.ts'].filter(isStart), ['workflows/index.ts'])
  })
})

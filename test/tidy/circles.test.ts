import assert from 'node:assert/strict'
import path from 'node:path'
import { assertNone } from './assert-none.ts'
import { circlesOf } from './circles.ts'
import type { Graph } from './circles.ts'
import { importsOf, isSource, textOf, writtenFiles } from './sources.ts'

const files = writtenFiles()

function asText(graph: Graph): readonly string[] {
  return circlesOf(graph).map((circle) => circle.join(', '))
}

/** The imports between all sources. Imports of types count too, because a reader follows them as well. */
function importGraph(): Graph {
  const sources = files.filter((file) => isSource(file))
  return new Map(sources.map((file) => [file, importsOf(file).flatMap((one) => one.file ?? [])]))
}

/**
 * Matches the definition of a C function that other files may call. Such a definition begins in the first
 * column and is not static.
 */
const definition = /^(?!static\b)[a-z_][\w ]*?[ *](?<name>[a-z]\w*)\([^;]*?\) \{$/gm

/** The calls between the files of one C program. Comments are left out. */
function callGraph(programFiles: readonly string[]): Graph {
  const texts = new Map(programFiles.map((file) => [file, textOf(file).replaceAll(/\/\*[^]*?\*\//g, '')]))
  const owners = new Map(
    [...texts].flatMap(([file, text]) =>
      [...text.matchAll(definition)].map(({ groups }) => [String(groups?.['name']), file] as const),
    ),
  )
  const called = (file: string, text: string): string[] =>
    [...text.matchAll(/\b[a-z]\w*\b/g)].flatMap(([name]) => {
      const owner = owners.get(name)
      return owner === undefined || owner === file ? [] : [owner]
    })
  return new Map([...texts].map(([file, text]) => [file, [...new Set(called(file, text))]]))
}

describe('circles', () => {
  it('are in no imports', () => {
    assertNone(asText(importGraph()))
  })

  const sourcesOfC = files.filter((file) => file.endsWith('.c'))
  for (const program of new Set(sourcesOfC.map((file) => path.dirname(file)))) {
    it(`are in no calls between the files of ${program}`, () => {
      assertNone(asText(callGraph(sourcesOfC.filter((file) => path.dirname(file) === program))))
    })
  }

  it('are found where there are some', () => {
    const graph = new Map([
      ['a', ['b', 'e']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', ['e']],
      ['e', ['d']],
      ['f', ['a']],
    ])
    assert.deepEqual(circlesOf(graph), [
      ['d', 'e'],
      ['a', 'b', 'c'],
    ])
  })

  it('look at the calls between the files of the keeper, which are many', () => {
    const keeper = sourcesOfC.filter((file) => file.startsWith('guest/keeper/'))
    assert.ok([...callGraph(keeper).values()].flat().length > 30)
  })
})

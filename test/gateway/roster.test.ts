import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Roster } from '../../src/gateway/roster.ts'

interface Named {
  readonly name: string
}

const named = (name: string): Named => ({ name })

describe('a roster', () => {
  it('names its members in the order of coming, and the first of them', () => {
    const roster = new Roster<Named>()
    assert.deepEqual([namesIn(roster), roster.size], [[], 0])
    const [a, b, c] = ['a', 'b', 'c'].map((name) => roster.add(named(name)))
    assert(a && b && c)
    assert.deepEqual(namesIn(roster), ['a', 'b', 'c'])
    roster.remove(b)
    assert.deepEqual(namesIn(roster), ['a', 'c'])
    roster.remove(a)
    assert.equal(roster.first?.name, 'c')
    roster.add(named('d'))
    roster.remove(c)
    assert.deepEqual([namesIn(roster), roster.size], [['d'], 1])
  })

  it('does not change if a member is removed a second time', () => {
    const roster = new Roster<Named>()
    const entry = roster.add(named('a'))
    roster.add(named('b'))
    roster.remove(entry)
    roster.remove(entry)
    assert.deepEqual([namesIn(roster), roster.size], [['b'], 1])
  })

  it('leaves out of an iteration the members that leave or come during it', () => {
    const roster = new Roster<Named>()
    const entries = ['a', 'b', 'c', 'd'].map((name) => roster.add(named(name)))
    const met: string[] = []
    for (const { name } of roster) {
      met.push(name)
      if (name !== 'b') continue
      for (const entry of entries.slice(0, 3)) roster.remove(entry)
      roster.add(named('e'))
    }
    assert.deepEqual(met, ['a', 'b', 'd'])
    assert.deepEqual(namesIn(roster), ['d', 'e'])
  })

  it('lets minor collections free the members that have left, however long it has been in use', () => {
    const grownBytes = growthOf(new Roster<Payload>())
    assert(grownBytes < payloadBytes * payloads * 0.1, `${grownBytes} bytes are kept`)
  })
})

function namesIn(roster: Roster<Named>): readonly string[] {
  return [...roster].map(({ name }) => name)
}

interface Payload {
  readonly filler: readonly number[]
}

const payloadBytes = 8_000
const payloads = 10_000
const atATime = 64
/** How many members come and go between two collections: far more than are present at a time. */
const betweenCollections = 1_000

/** Lets members come and go, as requests do. Returns by how many bytes the heap has grown. */
function growthOf(roster: Roster<Payload>): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
  const present = Array.from({ length: atATime }, () => roster.add({ filler: [] }))
  const beforeBytes = process.memoryUsage().heapUsed
  for (let count = 0; count < payloads; count += 1) {
    present.push(roster.add({ filler: Array<number>(payloadBytes / 8).fill(0.5) }))
    const oldest = present.shift()
    if (oldest !== undefined) roster.remove(oldest)
    if (count % betweenCollections === 0) collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return process.memoryUsage().heapUsed - beforeBytes
}

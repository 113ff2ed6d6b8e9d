import { strict as assert } from 'node:assert'
import {
  agentName,
  fullName,
  isBesideId,
  isHostId,
  isPartId,
  kindName,
  partNamed,
} from '../../../src/domain/part-name.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { besideId } from '../../../src/trust/asked-identity.ts'

const ids = ['h2', 'a', '0', 'agent', 'roost', 'x--y', 'a'.repeat(63)]
const h2 = 'h2.agent.roost.internal'

describe('names of parts', () => {
  it('are found again in the names of a certificate, for every part and id', () => {
    for (const part of Object.values(PlatformPart)) {
      for (const id of ids) {
        const name = { part, id }
        assert.deepEqual(partNamed([fullName(name), kindName(part)]), name)
        assert.deepEqual(partNamed([kindName(part), fullName(name)]), name)
      }
    }
    assert.equal(agentName('h2'), h2)
  })

  it('name nothing if they are not those of exactly one part', () => {
    const refused: readonly (readonly string[])[] = [
      [],
      [''],
      ['agent.roost.internal'],
      ['h2.agent.roost.example'],
      ['h2.agent.roost.internal.example'],
      ['h2.agent.roostXinternal'],
      ['x.h2.agent.roost.internal'],
      ['h2.agent.roost.internal.'],
      ['h2.stranger.roost.internal'],
      ['h2.toString.roost.internal'],
      ['*.agent.roost.internal'],
      ['h*.agent.roost.internal'],
      ['H2.agent.roost.internal'],
      ['h2.Agent.roost.internal'],
      ['h2.agent.ROOST.internal'],
      ['.agent.roost.internal'],
      ['h2 .agent.roost.internal'],
      ['h2\0.agent.roost.internal'],
      ['-h2.agent.roost.internal'],
      [`${'a'.repeat(64)}.agent.roost.internal`],
      [h2, 'h3.agent.roost.internal'],
      [h2, 'h2.api.roost.internal'],
      [h2, h2],
    ]
    for (const names of refused) assert.equal(partNamed(names), undefined, JSON.stringify(names))
  })

  it('have ids that are one label of DNS', () => {
    for (const id of ids) assert.ok(isPartId(id), id)
    for (const id of ['', '-', 'a-', '-a', 'A', 'a.b', 'a_b', 'ä', 'a\n', '..', 'a'.repeat(64)])
      assert.ok(!isPartId(id), JSON.stringify(id))
  })

  it('tell parts beside the API from machines that joined', () => {
    const beside = Array.from({ length: 100 }, besideId)
    for (const id of beside) assert.ok(isPartId(id) && isBesideId(id) && !isHostId(id), id)
    for (const id of [...ids, 'abcdefabcde', 'abcdefabcdefa', 'abcdefabcdeg'])
      assert.ok(!isBesideId(id) && isHostId(id), id)
    assert.ok(!isHostId('a.b'))
  })
})

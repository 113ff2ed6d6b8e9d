import assert from 'node:assert/strict'
import { openPlatformGroup } from '../../src/launch/parts/platform-group.ts'
import { commandLineOf, familyOf, groupsOf } from '../support/processes.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const parts = ['postgres', 'temporal', 'api', 'worker', 'agent', 'gateway'] as const

describe('processors of a stack', () => {
  let stack: Stack

  before(async function () {
    const possible = openPlatformGroup('/nowhere')
    await possible?.close()
    if (possible === undefined) this.skip()
    stack = await sharedStack()
  })

  for (const part of parts) {
    it(`are shared in the group of the platform by a part and the processes it starts: ${part}`, () => {
      const pid = stack.pidOf(part)
      // The agent starts processes for users, which are outside the group. All processes of the other parts
      // are in it.
      const family = part === 'agent' ? [pid] : familyOf(pid)
      const groups = family.map((one) => ({ pid: one, group: platformGroupOf(one) }))
      // A process that has ended meanwhile is in no group.
      const found = new Set(groups.filter((one) => commandLineOf(one.pid) !== '').map(({ group }) => group))
      assert.equal(found.size, 1, [...found].join(', '))
      assert.match([...found][0] ?? 'none', /^roost-platform-[0-9a-f]{12}$/)
    })
  }

  for (const part of ['registry', 'registry-owner'] as const) {
    it(`are used outside that group by a part that gives way to others: ${part}`, () => {
      assert.equal(platformGroupOf(stack.pidOf(part)), undefined)
    })
  }

  it("are used outside that group by the processes that unpack users' images", async () => {
    const unpackers = () =>
      familyOf(stack.pidOf('agent')).filter((pid) => commandLineOf(pid).includes('unpack.ts'))
    const isOutside = () => unpackers().some((pid) => platformGroupOf(pid) === undefined)
    await until('an unpacker is outside the group', isOutside, { limitMs: 20_000 })
  })
})

function platformGroupOf(pid: number): string | undefined {
  return /\/(roost-platform-.*)$/m.exec(groupsOf(pid).join('\n'))?.[1]
}

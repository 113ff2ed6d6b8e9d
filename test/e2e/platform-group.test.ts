import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { openPlatformGroup } from '../../src/launch/platform-group.ts'
import { familyOf } from '../support/processes.ts'
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
    it(`are weighed in the group of the platform for a part and what it starts: ${part}`, () => {
      const found = familyOf(stack.pidOf(part)).flatMap((pid) => platformGroupOf(pid) ?? [])
      assert.match(found[0] ?? 'none', /^roost-platform-[0-9a-f]{12}$/)
      assert.deepEqual([...new Set(found)], [found[0]])
    })
  }

  for (const part of ['registry', 'registry-owner'] as const) {
    it(`are a neighbour's for a part that gives way: ${part}`, () => {
      assert.equal(platformGroupOf(stack.pidOf(part)), undefined)
    })
  }

  it("are a neighbour's for what unpacks images of users", async () => {
    const unpackers = () => familyOf(stack.pidOf('agent')).filter((pid) => /unpack\.ts/.test(commandOf(pid)))
    const isOutside = () => unpackers().some((pid) => platformGroupOf(pid) === undefined)
    await until('an unpacker is outside the group', isOutside, { limitMs: 20_000 })
  })
})

function platformGroupOf(pid: number): string | undefined {
  return /\/(roost-platform-.*)$/m.exec(read(`/proc/${pid}/cgroup`))?.[1]
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`)
}

/** Empty for one that has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

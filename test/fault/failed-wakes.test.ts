import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicAnswer, PublicNames } from '../support/public-names.ts'
import { untilAsleep } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { addMember, cold, kept } from './fleet.ts'
import type { Member } from './fleet.ts'

const recordedLimitMs = 15_000

describe('a wake that fails', function () {
  let stack: Stack
  let names: PublicNames
  let member: Member
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  after(() => names?.close())
  afterEach(() => stack.api.one('deleteInstances', { object: member.uuid }))

  async function attempt(): Promise<PublicAnswer> {
    return await names.get(`https://${member.host}/count`, { headers: { accept: 'application/json' } })
  }

  /**
   * Verifies what a client and a reader of the instance are told as long as the cause of the failure lasts.
   */
  async function verifyFailing(reason: RegExp): Promise<void> {
    const first = await untilRefused()
    assert.match(first.text, reason)
    const second = await attempt()
    assert.equal(second.status, 503)
    assert.ok(Number(second.headers['retry-after']) >= 1, 'it says when to come again')
    const view = await until(
      'the failure is shown',
      async () => {
        const seen = await member.view()
        return seen.failure !== undefined && seen.state === 'standby' && seen
      },
      { limitMs: recordedLimitMs },
    )
    assert.match(view.failure ?? '', reason)
  }

  async function untilRefused(): Promise<PublicAnswer> {
    return await until(
      'a request is refused',
      async () => {
        const answer = await attempt()
        return answer.status === 503 && answer
      },
      { limitMs: recordedLimitMs },
    )
  }

  /** Verifies that the next request is answered once the back-off lets it try, without anybody's help. */
  async function verifyMended(): Promise<void> {
    await until('a request is answered', async () => (await attempt()).status === 200, { limitMs: 60_000 })
    const awake = await until(
      'the failure is forgotten',
      async () => {
        const seen = await member.view()
        return seen.failure === undefined && seen
      },
      { limitMs: recordedLimitMs },
    )
    assert.equal(awake.restart_count, 0)
    await untilAsleep(stack, member.uuid)
  }

  it('without its image says so, is retried with a back-off, and succeeds once the image is back', async () => {
    member = await addMember({ stack, names }, 'no-image', { scale_to_zero: cold })
    await member.ask()
    await untilAsleep(stack, member.uuid)
    const record = path.join(stack.dataDir, 'agent', 'instances', member.uuid, 'record.json')
    const { imageDigest } = JSON.parse(execFileSync('cat', [record], { encoding: 'utf8' })) as {
      imageDigest: string
    }
    const cached = path.join(stack.dataDir, 'agent', 'images', imageDigest.replace(':', '-'))
    const repository = execFileSync(
      'find',
      [stack.dataDir, '-type', 'd', '-path', '*/repositories/official/counter', '-prune'],
      {
        encoding: 'utf8',
      },
    ).trim()
    assert.ok(readdirSync(cached).length > 0)
    rmSync(cached, { recursive: true })
    renameSync(repository, `${repository}.away`)
    try {
      await verifyFailing(/image|manifest|not found|unknown/i)
    } finally {
      renameSync(`${repository}.away`, repository)
    }
    await verifyMended()
  })

  it('without room on the host says so, keeps the memory, and succeeds once there is room', async () => {
    member = await addMember({ stack, names }, 'no-room', { scale_to_zero: kept })
    await member.ask()
    await untilAsleep(stack, member.uuid)
    const directory = path.join(stack.dataDir, 'agent', 'instances', member.uuid)
    const copy = `${directory}.copy`
    execFileSync('cp', ['-a', directory, copy])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', directory])
    try {
      execFileSync('cp', ['-a', `${copy}/.`, directory])
      const filler = path.join(directory, 'filler')
      fill(filler)
      await verifyFailing(/room|space|full/i)
      rmSync(filler)
      await verifyMended()
      await member.ask()
    } finally {
      rmSync(copy, { recursive: true })
      await untilAsleep(stack, member.uuid).catch(() => undefined)
      execFileSync('umount', ['-l', directory])
    }
  })
})

function fill(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file))
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize + 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

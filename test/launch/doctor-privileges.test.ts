import assert from 'node:assert/strict'
import { jailCheck } from '../../src/launch/doctor-privileges.ts'

const found = (...gaps: readonly string[]) => jailCheck(async () => await Promise.resolve(gaps), true)

describe("The doctor's look at how far virtual machines are apart", () => {
  it('is content where their processes have everything of their own', async () => {
    assert.equal((await found()).status, 'ok')
  })

  it('names what they have to share with the host', async () => {
    const { status, detail } = await found('network', 'process numbers')
    assert.equal(status, 'warning')
    assert.match(detail, /have no network, no process numbers of their own/)
  })

  it('misses a keeper that can not be run', async () => {
    const { status, remedy } = await jailCheck(() => Promise.reject(new Error('ENOENT')), true)
    assert.deepEqual([status, remedy], ['missing', 'npm run setup'])
  })

  it('says what is missing without root, and tries nothing', async () => {
    const { status } = await jailCheck(() => Promise.reject(new Error('tried')), false)
    assert.equal(status, 'warning')
  })
})

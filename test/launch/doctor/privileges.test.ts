import assert from 'node:assert/strict'
import { jailCheck, partUsersCheck } from '../../../src/launch/doctor/privileges.ts'
import { ensureUser, PartUser, UserNotMade } from '../../../src/launch/parts/part-users.ts'

const found = (...gaps: readonly string[]) => jailCheck(async () => await Promise.resolve(gaps), true)

describe("The doctor's look at how far virtual machines are apart", () => {
  it('is content if their processes have all namespaces of their own', async () => {
    assert.equal((await found()).status, 'ok')
  })

  it('names what they have to share with the host', async () => {
    const { status, detail } = await found('network', 'process numbers')
    assert.equal(status, 'warning')
    assert.match(detail, /have no network, no process numbers of their own/)
  })

  it('reports a keeper that can not be run as missing', async () => {
    const { status, remedy } = await jailCheck(() => Promise.reject(new Error('ENOENT')), true)
    assert.deepEqual([status, remedy], ['missing', 'npm run setup'])
  })

  it('says what is missing without root, and tries nothing', async () => {
    const { status } = await jailCheck(() => Promise.reject(new Error('tried')), false)
    assert.equal(status, 'warning')
  })
})

describe("The doctor's look at the users of the parts", () => {
  const look = (absent: readonly PartUser[], canMake: boolean) =>
    partUsersCheck(true, async () => await Promise.resolve({ absent, canMake }))

  it('is content if they exist, or if the next start can make them', async () => {
    assert.equal((await look([], false)).status, 'ok')
    const { status, detail } = await look([PartUser.Api, PartUser.Worker], true)
    assert.equal(status, 'ok')
    assert.match(detail, /the next start makes roost-api, roost-worker by /)
  })

  it('reports the program that makes them as missing, and says how to install it', async () => {
    const { status, detail, remedy } = await look([PartUser.Api], false)
    assert.equal(status, 'missing')
    assert.match(detail, /there is no \/usr\/sbin\/useradd to make roost-api/)
    assert.match(remedy ?? '', /apt-get install .* passwd$/)
  })

  it('needs none if the parts can not become another user', async () => {
    const { status } = await partUsersCheck(false, () => Promise.reject(new Error('looked')))
    assert.equal(status, 'ok')
  })

  it('gives the same advice as a start that can not make a user', async () => {
    const start = ensureUser('roost-nobody' as PartUser, '/nowhere/useradd')
    await assert.rejects(start, (error: unknown) => {
      assert.ok(error instanceof UserNotMade)
      assert.match(error.message, /^the user roost-nobody, .* there is no \/nowhere\/useradd; .* passwd$/)
      return true
    })
  })
})

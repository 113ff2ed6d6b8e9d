import assert from 'node:assert/strict'
import { groupsCheck } from '../../../src/launch/doctor/groups.ts'

describe("The doctor's look at control groups", () => {
  const check = async (version: 1 | 2 | undefined, missing: readonly string[], isRoot = true) =>
    await groupsCheck(
      async () =>
        await Promise.resolve({
          version,
          present: ['memory', 'pids', 'cpu'].filter((one) => !missing.includes(one)),
          missing,
        }),
      isRoot,
    )

  it('is content if they bound everything', async () => {
    assert.deepEqual(await check(2, []), {
      name: 'control groups',
      status: 'ok',
      detail: 'version 2, which bounds memory, pids, cpu of virtual machines',
    })
  })

  it('names what is not bounded and what to do about it, by version', async () => {
    const one = await check(1, ['pids'])
    assert.equal(one.status, 'warning')
    assert.match(one.detail, /version 1, which bounds memory, cpu .* and not pids$/)
    assert.match(one.remedy ?? '', /mount -t cgroup/)
    assert.match((await check(2, ['memory'])).remedy ?? '', /cgroup.controllers/)
    assert.match((await check(undefined, ['memory', 'pids', 'cpu'])).detail, /none/)
  })

  it('says that nothing is bounded without root', async () => {
    const { status, detail } = await check(2, [], false)
    assert.equal(status, 'warning')
    assert.match(detail, /not root/)
  })
})

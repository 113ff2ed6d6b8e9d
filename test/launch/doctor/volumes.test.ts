import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { surveyVolumes } from '../../../src/host/volumes/volume-survey.ts'
import { volumesCheck, volumeToolsCheck } from '../../../src/launch/doctor/volumes.ts'
import type { VolumesFound } from '../../../src/launch/doctor/volumes.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const found: VolumesFound = { directory: '/v', totalMb: 100, promisedMb: 30, freeMb: 90, unknown: [] }
const check = async (changes: Partial<VolumesFound>): Promise<ReturnType<typeof volumesCheck>> =>
  await volumesCheck(async () => await Promise.resolve({ ...found, ...changes }))

describe("The doctor's look at volumes", () => {
  it('names the programs with which volumes are made', async () => {
    const { status, detail } = await volumeToolsCheck()
    assert.equal(status, 'ok')
    assert.match(detail, /^e2fsck \d+\.\d+/)
  })

  it('reports the programs as missing if they are, and says how to get them', async () => {
    const { status, detail, remedy } = await volumeToolsCheck(['/nowhere'])
    assert.deepEqual([status, remedy], ['missing', 'npm run setup'])
    assert.match(detail, /mke2fs, e2fsck/)
  })

  it('tells the room', async () => {
    assert.deepEqual(await check({}), [
      {
        name: 'volumes',
        status: 'ok',
        detail: '/v, 30 MB promised, room for 70 MB more, 90 MB of the disk free',
      },
    ])
  })

  it('warns if there is no room left', async () => {
    const [room] = await check({ promisedMb: 100 })
    assert.equal(room?.status, 'warning')
  })

  it('warns if other files have taken room that was promised to volumes', async () => {
    const [room] = await check({ totalMb: 20 })
    assert.equal(room?.status, 'warning')
    assert.match(room.detail, /10 MB of the promises are not covered/)
  })

  it('names volumes that the database does not know, but not too many of them', async () => {
    const [, unknown] = await check({ unknown: 'abcdefgh'.split('') })
    assert.equal(unknown?.status, 'warning')
    assert.match(unknown.detail, /\/v has 8 .*: a, b, c, d, e and 3 more$/)
    assert.deepEqual((await check({ unknown: undefined }))[1]?.status, 'ok')
  })

  it('does not make other checks fail', async () => {
    assert.deepEqual(
      (await volumesCheck(async () => await Promise.reject(new Error('broken')))).map(({ status }) => status),
      ['warning'],
    )
    assert.equal((await volumesCheck(async () => await Promise.resolve(undefined)))[0]?.status, 'ok')
  })

  it('sees what is on the disk without an agent, and changes nothing', async () => {
    const base = await mkdtemp(path.join(tmpdir(), 'roost-doctor-'))
    const directory = path.join(base, 'volumes')
    try {
      assert.equal(await surveyVolumes(directory), undefined)
      const volumes = await FileVolumes.open({ directory, reserveMb: 0 })
      await volumes.make({ uuid, sizeMb: 8 })
      await volumes.close()
      const survey = await surveyVolumes(directory)
      assert.deepEqual([survey?.uuids, survey?.room.promisedMb], [[uuid], 8])
    } finally {
      await rm(base, { recursive: true, force: true })
    }
  })
})

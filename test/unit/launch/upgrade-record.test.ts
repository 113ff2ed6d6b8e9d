import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { upgradeFileName } from '../../../src/domain/host/upgrade-file.ts'
import { UpgradeState } from '../../../src/domain/host/upgrade.ts'
import { readUpgradeFile } from '../../../src/host/agent/upgrade-file.ts'
import { UpgradeRecord, endLeftUpgrade } from '../../../src/launch/upgrade/upgrade-record.ts'

describe('the record of an upgrade', () => {
  let agentDir: string
  let logged: string[]
  beforeEach(async () => {
    agentDir = await mkdtemp(path.join(tmpdir(), 'roost-upgrade-'))
    logged = []
  })
  afterEach(async () => await rm(agentDir, { recursive: true, force: true }))

  const log = () => pino({}, { write: (line: string) => void logged.push(line) })
  const recordIn = (directory: string) =>
    new UpgradeRecord({ agentDir: directory, upgrade: { from: '1', to: '2' }, log: log() })
  const step = { part: 'worker', exchanged: 1, parts: 3 }

  it('has each step and the outcome for the agent', async () => {
    assert.equal(await readUpgradeFile(agentDir), undefined)
    const record = recordIn(agentDir)
    await record.begin()
    const { beganAtMs } = (await readUpgradeFile(agentDir))!
    const own = { from: '1', to: '2', beganAtMs }
    assert.deepEqual(await readUpgradeFile(agentDir), { ...own, state: 'exchanging' })
    await record.step(step)
    assert.deepEqual(await readUpgradeFile(agentDir), { ...own, state: 'exchanging', progress: step })
    await record.step({ ...step, why: 'worker ended' })
    const back = { state: 'going-back', progress: step, why: 'worker ended' }
    assert.deepEqual(await readUpgradeFile(agentDir), { ...own, ...back })
    await record.end(UpgradeState.WentBack, 'worker ended; api is tried on and on')
    const { endedAtMs, ...over } = (await readUpgradeFile(agentDir))!
    assert.ok(endedAtMs! >= beganAtMs)
    assert.deepEqual(over, { ...own, state: 'went-back', why: 'worker ended; api is tried on and on' })
    assert.deepEqual(logged, [])
  })

  it('that cannot be written stops no upgrade, and is in the log', async () => {
    const record = recordIn(path.join(agentDir, 'nowhere'))
    await record.begin()
    await record.end(UpgradeState.Done)
    assert.match(logged.join(''), /how the upgrade goes can not be told/)
  })

  it('says that the upgrade was cut off if the next start finds it under way', async () => {
    const record = recordIn(agentDir)
    await record.begin()
    await record.step(step)
    await endLeftUpgrade(agentDir, log())
    const left = await readUpgradeFile(agentDir)
    assert.equal(left?.state, UpgradeState.CutOff)
    assert.equal(left.progress, undefined)
    assert.ok(left.endedAtMs)
  })

  it('stays as it is if the upgrade was over, or if there is none', async () => {
    await endLeftUpgrade(agentDir, log())
    assert.equal(await readUpgradeFile(agentDir), undefined)
    await recordIn(agentDir).end(UpgradeState.Done)
    const done = await readUpgradeFile(agentDir)
    await endLeftUpgrade(agentDir, log())
    assert.deepEqual(await readUpgradeFile(agentDir), done)
    await writeFile(path.join(agentDir, upgradeFileName), '{')
    await endLeftUpgrade(agentDir, log())
    assert.equal(await readUpgradeFile(agentDir), undefined)
  })
})

import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { rememberedPorts } from '../../../src/launch/ports.ts'
import { createSupervisor } from '../../support/supervised-parts.ts'
import type { Supervisor } from '../../../src/launch/parts/supervisor.ts'
import { readDynamicConfig } from '../../../src/launch/services/temporal-config.ts'
import { devServerArgs, temporalPart } from '../../../src/launch/services/temporal.ts'
import { createFakeParts } from '../parts/fake-parts.ts'
import { itServesRoost } from './temporal-form.ts'

describe("Temporal's dev server", () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-temporal-'))
  const options = {
    databaseFile: path.join(directory, 'data/temporal.db'),
    namespace: 'roost',
    port: 0,
    uiPort: 0,
  }
  let supervisor: Supervisor

  before(async () => {
    const { port, ui } = await rememberedPorts(path.join(directory, 'ports.json'), ['port', 'ui'])
    Object.assign(options, { port, uiPort: ui })
    // Its user may read the program where it is, and nothing of the home directory.
    const program = path.join(directory, 'temporal')
    const home = path.join(directory, 'home')
    chmodSync(directory, 0o755)
    mkdirSync(home, { mode: 0o700 })
    copyFileSync(requireInstalled(readInstalled(), 'temporalCli'), program)
    const part = await temporalPart({ ...options, program })
    const environment = { ...process.env, HOME: home }
    supervisor = createSupervisor({ ...createFakeParts(directory).options([part]), environment })
    await supervisor.start()
  })

  after(async () => {
    await supervisor.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  it('answers with its Web UI', async () => {
    const answer = await fetch(`http://127.0.0.1:${options.uiPort}/namespaces/roost/workflows`)
    assert.equal(answer.status, 200)
    await answer.body?.cancel()
  })

  it('keeps its database from other users of the machine', () => {
    for (const suffix of ['', '-wal', '-shm'])
      assert.equal(statSync(options.databaseFile + suffix).mode & 0o077, 0)
  })

  it('writes a log ahead, and flushes it at every commit', () => {
    // The 19th byte of the database is 2 if it has a write-ahead log.
    assert.equal(readFileSync(options.databaseFile)[18], 2)
    assert.ok(devServerArgs({ ...options, program: 'temporal' }).includes('synchronous=full'))
  })

  it('moves the database of an earlier version from its old place, with the data that is only in its log files', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'roost-temporal-before-'))
    try {
      const former = path.join(home, 'temporal.db')
      writeFileSync(former, 'rows')
      writeFileSync(`${former}-wal`, 'newer rows')
      const databaseFile = path.join(home, 'temporal', 'temporal.db')
      const program = requireInstalled(readInstalled(), 'temporalCli')
      const part = await temporalPart({ ...options, program, databaseFile, formerDatabaseFile: former })
      await part.prepare?.()
      await part.prepare?.()
      assert.deepEqual(
        [databaseFile, `${databaseFile}-wal`].map((file) => readFileSync(file, 'utf8')),
        ['rows', 'newer rows'],
      )
      assert.deepEqual(readdirSync(home), ['temporal'])
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })

  it('gets every value of the dynamic configuration as a flag', () => {
    const args = devServerArgs({ ...options, program: 'temporal' })
    assert.ok(readDynamicConfig().length >= 5)
    for (const { key, json } of readDynamicConfig()) assert.ok(args.includes(`${key}=${json}`), key)
    assert.ok(args.includes('history.timerProcessorMaxTimeShift="10ms"'))
  })

  itServesRoost(() => ({ address: `127.0.0.1:${options.port}` }))
})

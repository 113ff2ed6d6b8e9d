import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { findPlatform, lockDataDirectory } from '../../src/launch/data-directory.ts'
import { PlatformEnd } from '../../src/launch/end-signals.ts'
import { haltPlatform } from '../../src/launch/halt.ts'
import { identify, isRunning } from '../../src/launch/parts/process-identity.ts'

/** The user id that owns nothing. */
const nobody = 65_534

describe('a halt of the platform', () => {
  let dataDir: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-halt-'))
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })

  const place = () => ({ dataDir, agentDir: path.join(dataDir, 'agent') })
  const journal = (): readonly string[] =>
    readFileSync(path.join(dataDir, 'journal'), 'utf8').split('\n').filter(Boolean)

  async function startPlatform(): Promise<ChildProcess> {
    const program = path.join(import.meta.dirname, 'halt-platform.ts')
    const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }

  /** A process that looks like the keeper of a VM. */
  async function startKeeper(): Promise<ChildProcess> {
    const vm = `dir=${path.join(dataDir, 'agent/instances/a/vm')}`
    const child = spawn('/bin/sh', ['-c', 'echo up; read line', 'keeper', vm], {
      argv0: '/cache/guest/keeper',
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }

  for (const [end, said] of [
    [PlatformEnd.EndVms, 'stop agent'],
    [PlatformEnd.KeepVms, 'leave agent'],
  ] as const) {
    it(`ends its parts in order, and its agent by the word for ${end}`, async () => {
      const exited = once(await startPlatform(), 'exit')
      assert.deepEqual(await haltPlatform(place(), end), { kind: 'ended', endedVms: 0, leftVms: 0 })
      assert.deepEqual(journal().slice(-2), [said, 'stop api'])
      assert.deepEqual(await exited, [0, null])
    })
  }

  it('counts the virtual machines that it leaves', async () => {
    await startPlatform()
    await startKeeper()
    const outcome = await haltPlatform(place(), PlatformEnd.KeepVms)
    assert.deepEqual(outcome, { kind: 'ended', endedVms: 0, leftVms: 1 })
  })

  it('does nothing where nothing runs, and tells the virtual machines that run on', async () => {
    const nothing = { kind: 'nothing-runs', leftVms: 0 } as const
    assert.deepEqual(await haltPlatform(place(), PlatformEnd.EndVms), nothing)
    lockDataDirectory(dataDir).release()
    assert.deepEqual(await haltPlatform(place(), PlatformEnd.EndVms), nothing)
    await startKeeper()
    assert.deepEqual(await haltPlatform(place(), PlatformEnd.EndVms), { ...nothing, leftVms: 1 })
  })

  it('never signals a process that only got the id of a platform which has ended', async () => {
    const other = spawn('sleep', ['1000'], { stdio: 'ignore' })
    children.push(other)
    await once(other, 'spawn')
    lockDataDirectory(dataDir).release()
    writeFileSync(path.join(dataDir, 'stack.lock'), `${other.pid}\n`)
    const outcome = await haltPlatform(place(), PlatformEnd.EndVms)
    assert.equal(outcome.kind, 'nothing-runs')
    const identity = identify(Number(other.pid))
    assert.ok(identity && isRunning(identity))
  })

  it('gives up on a platform that does not end, and names it', async () => {
    const lock = path.join(dataDir, 'stack.lock')
    const stuck = spawn('/bin/sh', ['-c', `trap '' TERM; exec 9>>'${lock}'; echo up; read line`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    children.push(stuck)
    await once(stuck.stdout, 'data')
    writeFileSync(lock, `${stuck.pid}\n`)
    const outcome = await haltPlatform(place(), PlatformEnd.EndVms, 200)
    assert.deepEqual(outcome, { kind: 'still-runs', pid: stuck.pid, limitMs: 200 })
  })

  it('says that it may not look where the platform is another user’s', async function () {
    if (process.getuid?.() !== 0 || process.seteuid === undefined) return this.skip()
    await startPlatform()
    chmodSync(dataDir, 0o755)
    process.seteuid(nobody)
    try {
      assert.deepEqual(await haltPlatform(place(), PlatformEnd.EndVms), { kind: 'hidden' })
    } finally {
      process.seteuid(0)
    }
    assert.deepEqual(journal().at(-1), 'ready agent')
  })

  it('finds the process that has the data directory', () => {
    assert.equal(findPlatform(dataDir), undefined)
    const lock = lockDataDirectory(dataDir)
    assert.deepEqual(findPlatform(dataDir), identify(process.pid))
    lock.release()
    assert.equal(findPlatform(dataDir), undefined)
  })
})

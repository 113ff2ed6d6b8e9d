import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { identify, isRunning } from '../../../src/launch/parts/process-identity.ts'
import { until } from '../../support/until.ts'

const limitMs = 10_000
/** The system call `exit` of x86-64 ends the calling thread alone. */
const exitOfThread = 60
const script = `
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(${exitOfThread}, 0)
`

describe('the identity of a process', () => {
  let child: ChildProcess
  afterEach(() => child.kill('SIGKILL'))

  const stateOf = (pid: number) => /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]

  it('stays as long as one of its threads runs, although its first one has ended', async () => {
    child = spawn(requireInstalled(readInstalled(), 'python'), ['-c', script])
    await once(child.stdout!, 'data')
    const pid = child.pid!
    const identity = identify(pid)
    assert.ok(identity)
    await until('its first thread has ended', () => stateOf(pid) === 'Z', { limitMs })
    assert.ok(isRunning(identity))
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    assert.equal(isRunning(identity), false)
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { vmDirectory } from '../../../src/host/vmm/vm-record.ts'
import type { ExecEnd, ExecRequest } from '../../../src/host/exec/exec-session.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limitMs = 30_000

describe('a program in a QEMU guest', () => {
  let bench: QemuBench
  let vmm: QemuVmm
  let spec: VmSpec

  before(async () => {
    bench = await openQemuBench()
    vmm = bench.open()
    spec = await bench.spec({
      argv: ['sleep', '1000000'],
      env: { NAME: 'of the application' },
      user: 'app',
      workingDirectory: '/tmp/work',
    })
    await vmm.start(spec)
  })
  after(async () => {
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
    await vmm.close()
    await bench.close()
  })

  async function run(
    request: ExecRequest,
    by = vmm,
  ): Promise<{ readonly text: string; readonly end: ExecEnd }> {
    const session = await by.exec(spec, request)
    let text = ''
    session.on('output', (_, bytes) => {
      text += bytes.toString('utf8')
      session.outputTaken(bytes.length)
    })
    const [end] = (await once(session, 'end', { signal: AbortSignal.timeout(limitMs) })) as [ExecEnd]
    return { text, end }
  }
  const shell = async (script: string) => (await run({ argv: ['sh', '-c', script] })).text

  it('has the user, the groups, the directory and the environment of the application', async () => {
    assert.equal(
      await shell('id -un; id -Gn; pwd; echo $NAME $HOME'),
      'app\napp extra\n/tmp/work\nof the application /home/app\n',
    )
  })

  it('inherits nothing of init: no files, no signals that are ignored or blocked, no priority', async () => {
    assert.equal(await shell('ls /proc/self/fd | tr "\\n" " "'), '0 1 2 3 ')
    const status = await shell('grep -E "^Sig(Blk|Ign)" /proc/self/status; cut -d" " -f19 /proc/self/stat')
    assert.match(status, /SigBlk:\s*0+\n.*SigIgn:\s*0+\n0\n/)
  })

  it('with a terminal is the leader of its session, and may open it by name', async () => {
    const script = 'tty; echo by name > $(tty); test -w /dev/tty && echo too > /dev/tty; echo $TERM'
    const { text } = await run({
      argv: ['sh', '-c', script],
      terminal: { rows: 1, columns: 2 },
      term: 'vt220',
    })
    assert.match(text, /^\/dev\/pts\/\d+\r\nby name\r\ntoo\r\nvt220\r\n$/)
  })

  it('that is no program fails with 126', async () => {
    assert.deepEqual((await run({ argv: ['/etc/passwd'] })).end, {
      kind: 'failed',
      code: 126,
      message: '/etc/passwd: Permission denied',
    })
  })

  it('may be a copy, which ends before it fills the memory, and leaves nothing of its file', async () => {
    const session = await vmm.exec(spec, { type: 'unpack', path: '/tmp', extract: true })
    let said = ''
    session.on('output', (_, bytes) => {
      said += bytes.toString('utf8')
      session.outputTaken(bytes.length)
    })
    const ended = once(session, 'end', { signal: AbortSignal.timeout(limitMs) }) as Promise<[ExecEnd]>
    const endless = pack()
    endless.entry({ name: 'endless', size: 2 ** 32 })
    const [header] = (await once(endless as unknown as Readable, 'data')) as [Buffer]
    session.write(header)
    const scores = await shell('cat /proc/[0-9]*/oom_score_adj | sort -n | tail -1')
    assert.equal(scores, '1000\n')
    session.on('inputTaken', (taken) => session.write(Buffer.alloc(taken)))
    session.write(Buffer.alloc(session.windowBytes - header.length))
    assert.deepEqual((await ended)[0], { kind: 'code', code: 1 })
    assert.match(said, /^endless: the memory of the instance is full/)
    assert.equal(await shell('ls -A /tmp; ps | grep -c "[s]leep 1000000"'), 'work\n1\n')
  })

  it('is followed by others though an agent ended in the middle of a frame', async () => {
    await vmm.close()
    vmm = bench.open()
    await vmm.recover()
    const socket = connect(path.join(vmDirectory(spec.directory), 'exec.sock'))
    await once(socket, 'connect')
    socket.write(Buffer.from('H\0\0\0\x10\0\0\0roost-ex12345678O\0\0\0\0\x10\0\0arg=half', 'latin1'))
    await once(socket, 'data')
    socket.destroy()
    assert.equal(await shell('echo on'), 'on\n')
  })

  it('ends with its agent, and the next agent finds nothing of it', async () => {
    const session = await vmm.exec(spec, { argv: ['sh', '-c', 'trap "" HUP; echo deaf; exec sleep 4321'] })
    await once(session, 'output')
    const before = await shell('ps')
    assert.ok(before.includes('sleep 4321'), before)
    const lost = once(session, 'end') as Promise<[ExecEnd]>
    await vmm.close()
    assert.equal((await lost)[0].kind, 'lost')
    vmm = bench.open()
    await vmm.recover()
    // It ignores SIGHUP, so it has two seconds until SIGKILL. On a busy machine they are over by now.
    let text = await shell('ps')
    for (let tried = 0; tried < 40 && text.includes('sleep 4321'); tried++) {
      text = await shell('sleep 0.2; ps')
    }
    assert.ok(!text.includes('sleep 4321'), text)
  })
})

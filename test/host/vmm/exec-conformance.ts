import assert from 'node:assert/strict'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import type { ExecEnd, ExecRequest, ExecSession } from '../../../src/host/exec/exec-session.ts'
import { windowBytes } from '../../../src/host/exec/exec-frames.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { VmmScene } from './scene.ts'
import type { VmmWorld } from './scene.ts'

interface Outcome {
  readonly end: ExecEnd
  readonly stdout: string
  readonly stderr: string
}

/** Reads a session to its end, and takes all its output. */
async function outcomeOf(session: ExecSession): Promise<Outcome> {
  const text = { stdout: '', stderr: '' }
  session.on('output', (stream, bytes) => {
    text[stream] += bytes.toString('utf8')
    session.outputTaken(bytes.length)
  })
  const [end] = (await once(session, 'end', { signal: AbortSignal.timeout(20_000) })) as [ExecEnd]
  return { end, ...text }
}

/** What every VMM must do with programs that users run beside the application. */
export function execConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)

  async function open(spec: VmSpec, ...argv: readonly string[]): Promise<ExecSession> {
    return await scene.vmm.exec(spec, { argv })
  }

  async function run(spec: VmSpec, request: ExecRequest): Promise<Outcome> {
    const session = await scene.vmm.exec(spec, request)
    return await outcomeOf(session)
  }

  it('a program ends with its code or its signal, after all its output', async () => {
    const spec = await scene.start({})
    const coded = await run(spec, { argv: ['sh', '-c', 'echo out; echo err >&2; exit 7'] })
    assert.deepEqual(coded, { end: { kind: 'code', code: 7 }, stdout: 'out\n', stderr: 'err\n' })
    const { end } = await run(spec, { argv: ['sh', '-c', 'kill -9 $$'] })
    assert.deepEqual(end, { kind: 'signal', signal: 9 })
  })

  it('a program that is missing fails with 127 and a reason', async () => {
    const spec = await scene.start({})
    const { end } = await run(spec, { argv: ['no-such-program'] })
    assert.deepEqual(end, {
      kind: 'failed',
      code: 127,
      message: 'no-such-program: No such file or directory',
    })
  })

  it('a program reads its input to the end of it', async () => {
    const spec = await scene.start({})
    const session = await open(spec, 'cat')
    const outcome = outcomeOf(session)
    session.write(Buffer.from('one '))
    session.write(Buffer.from('two'))
    session.endInput()
    assert.deepEqual(await outcome, { end: { kind: 'code', code: 0 }, stdout: 'one two', stderr: '' })
  })

  it('more than a window passes through a program in both directions', async () => {
    const spec = await scene.start({})
    const session = await open(spec, 'cat')
    const outcome = outcomeOf(session)
    const piece = Buffer.alloc(windowBytes, 'x')
    for (let sent = 0; sent < 4; sent++) {
      let left = piece.length
      const taken = new Promise<void>((resolve) => {
        session.on('inputTaken', (bytes) => {
          left -= bytes
          if (left === 0) resolve()
        })
      })
      session.write(piece)
      await taken
      session.removeAllListeners('inputTaken')
    }
    session.endInput()
    const { end, stdout } = await outcome
    assert.deepEqual(end, { kind: 'code', code: 0 })
    assert.equal(stdout.length, 4 * windowBytes)
  })

  it('a session that nobody reads waits after a window of output, and others go on', async () => {
    const spec = await scene.start({})
    const flood = await open(spec, 'yes')
    let unread = 0
    const full = new Promise<void>((resolve) => {
      flood.on('output', (_, bytes) => {
        unread += bytes.length
        if (unread === windowBytes) resolve()
      })
    })
    await full
    assert.equal((await run(spec, { argv: ['sh', '-c', 'echo on'] })).stdout, 'on\n')
    assert.equal(unread, windowBytes)
    const ended = once(flood, 'end')
    flood.close()
    await ended
  })

  it('a terminal has the size that was asked for, and the one that it gets later', async () => {
    const spec = await scene.start({})
    const terminal = { rows: 33, columns: 101 }
    const { stdout, end } = await run(spec, { argv: ['stty', 'size'], terminal })
    assert.deepEqual([stdout, end], ['33 101\r\n', { kind: 'code', code: 0 }])
  })

  it('a signal ends a program that waits, and so does the end of its session', async () => {
    const spec = await scene.start({})
    const signalled = await open(spec, 'sleep', '1000')
    const [closed, first] = [await open(spec, 'sleep', '1000'), outcomeOf(signalled)]
    await once(closed, 'started')
    signalled.signal(15)
    assert.deepEqual((await first).end, { kind: 'signal', signal: 15 })
    const second = outcomeOf(closed)
    closed.close()
    assert.deepEqual((await second).end, { kind: 'signal', signal: 1 })
  })

  it('a ninth program at a time is refused', async () => {
    const spec = await scene.start({})
    const sessions = await Promise.all(
      Array.from({ length: 8 }, async () => await open(spec, 'sleep', '1000')),
    )
    await assert.rejects(open(spec, 'sleep', '1'), { name: 'ExecRefused', reason: 'busy' })
    const ends = sessions.map(async (session) => await outcomeOf(session))
    for (const session of sessions) session.close()
    await Promise.all(ends)
    assert.equal((await run(spec, { argv: ['sh', '-c', 'exit 3'] })).end.kind, 'code')
  })

  it('files that were copied to a guest come back from it', async () => {
    const spec = await scene.start({})
    const packing = pack()
    packing.entry({ name: 'copied', mtime: new Date(1_000_000_000_000) }, 'content')
    packing.finalize()
    const sent = await buffer(packing as AsyncIterable<Buffer>)
    const path = '/tmp/copied'
    const unpacking = await scene.vmm.exec(spec, { type: 'unpack', path })
    const unpacked = outcomeOf(unpacking)
    unpacking.write(sent)
    unpacking.endInput()
    assert.deepEqual(await unpacked, { end: { kind: 'code', code: 0 }, stdout: '', stderr: '' })
    const { stdout, end } = await run(spec, { type: 'pack', path })
    assert.deepEqual(end, { kind: 'code', code: 0 })
    assert.match(stdout, /^copied\0.*ustar.*content/s)
    const missing = await run(spec, { type: 'pack', path: '/tmp/missing' })
    assert.deepEqual(
      [missing.end, missing.stderr],
      [{ kind: 'code', code: 1 }, '/tmp/missing: No such file or directory\n'],
    )
  })

  it('a connection to a port on which nothing listens fails with a reason', async () => {
    const spec = await scene.start({})
    const { end } = await run(spec, { type: 'connect', port: 4321 })
    assert.deepEqual(end, { kind: 'failed', code: 126, message: 'nothing listens on port 4321' })
  })

  it('requests that a guest can not carry are refused', async () => {
    const spec = await scene.start({})
    const refused = { name: 'ExecRefused', reason: 'unable' }
    await assert.rejects(open(spec, 'sh', 'x\0y'), refused)
    await assert.rejects(open(spec), refused)
    await assert.rejects(open(spec, 'sh', 'x'.repeat(70_000)), refused)
  })

  it('a session is lost with its VM, and there is none afterwards', async () => {
    const spec = await scene.start({})
    const session = await open(spec, 'sleep', '1000')
    await once(session, 'started')
    const outcome = outcomeOf(session)
    await scene.vmm.kill(spec, 'forced')
    assert.equal((await outcome).end.kind, 'lost')
    await assert.rejects(open(spec, 'sleep', '1'), { name: 'ExecRefused', reason: 'not-running' })
  })

  it('a VM that went on from its snapshot runs programs', async () => {
    const spec = await scene.start({})
    assert.equal((await run(spec, { argv: ['sh', '-c', 'echo before'] })).stdout, 'before\n')
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    await scene.vmm.suspend(spec)
    const again = scene.follow({ ...spec, boot: 2, restore: true })
    assert.equal((await scene.vmm.start(again)).kind, 'restore')
    assert.equal((await run(again, { argv: ['sh', '-c', 'echo after'] })).stdout, 'after\n')
  })
}

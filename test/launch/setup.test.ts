import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const setup = path.resolve(import.meta.dirname, '../../setup')
/** The promise is 2 s on an idle machine, so the quickest of some counts. */
const quickMs = 2_000

/** Set-up's own files are plain JavaScript for the machine's Node, so they are tried from outside, as processes. */
function evaluate(program: string): ReturnType<typeof spawn> {
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

describe('set-up', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-setup-'))
  })

  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('is quick when everything is there', async () => {
    const setUp = () => run(process.execPath, [path.join(setup, 'setup.mjs'), '--tests'])
    // Sources may have changed since the run was set up.
    await setUp()
    const tookMs: number[] = []
    for (let times = 0; times < 3; times++) {
      const startedMs = performance.now()
      const { stdout } = await setUp()
      tookMs.push(performance.now() - startedMs)
      assert.match(stdout, /^Set-up is complete/)
    }
    assert.ok(Math.min(...tookMs) < quickMs, `it took ${tookMs.map(Math.round).join(', ')} ms`)
  })

  it('waits for another one that is at work, and says so', async () => {
    const lock = path.join(directory, 'setup.lock')
    const hold = `import { takeLock } from '${setup}/lock.mjs'
      const release = await takeLock('${lock}', () => console.log('waiting'))
      console.log('held')
      process.stdin.on('data', async () => { await release(); process.exit() })`
    const first = evaluate(hold)
    assert.match(await nextOutput(first), /held/)
    const second = evaluate(hold)
    assert.match(await nextOutput(second), /waiting/)
    first.stdin?.write('go\n')
    assert.match(await nextOutput(second), /held/)
    second.stdin?.write('go\n')
    await once(second, 'exit')
  })

  it('gets the lock of one that was killed', async () => {
    const lock = path.join(directory, 'setup.lock')
    const hold = `import { takeLock } from '${setup}/lock.mjs'
      await takeLock('${lock}', () => {})
      console.log('held')`
    const first = evaluate(hold)
    assert.match(await nextOutput(first), /held/)
    first.kill('SIGKILL')
    const second = evaluate(hold)
    assert.match(await nextOutput(second), /held/)
    second.kill('SIGKILL')
    await once(second, 'exit')
  })

  it('leaves nothing under the name of what it could not finish', async () => {
    const made = path.join(directory, 'thing')
    const program = `import { directoryOnce } from '${setup}/replace.mjs'
      await directoryOnce('${made}', async () => { throw new Error('half-way') }).catch(() => {})`
    await once(evaluate(program), 'exit')
    assert.equal(existsSync(made), false)
  })
})

async function nextOutput(child: ReturnType<typeof spawn>): Promise<string> {
  assert.ok(child.stdout)
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  return chunk.toString()
}

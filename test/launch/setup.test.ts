import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { fetchChecked } from '../../setup/checked-download.mjs'
import { absentPackages, isDebianPackage } from '../../setup/debian-packages.mjs'
import { missingLibraries } from '../../setup/libraries.mjs'
import { benchSections, needsOf } from '../../setup/needs.mjs'
import { things } from '../../setup/things.mjs'
import { readInstalled } from '../../src/launch/installed.ts'

const run = promisify(execFile)
const setup = path.resolve(import.meta.dirname, '../../setup')
/**
 * The time that set-up promises if everything is there. It is for an idle machine, so the quickest run
 * counts.
 */
const quickMs = 2_000

/**
 * Runs JavaScript with the machine's Node. The files of set-up are plain JavaScript for that Node, so the
 * tests use them in a process of their own.
 */
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
    // The files of set-up may have changed since set-up ran last. This run is not measured.
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

  it('accepts a download only if it has the expected digest', async () => {
    const server = createServer((_, response) => response.end('an archive')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`
      const digest = (text: string) => createHash('sha256').update(text).digest('hex')
      assert.equal(String(await fetchChecked(url, digest('an archive'))), 'an archive')
      const [found, expected] = [digest('an archive'), digest('another one')]
      await assert.rejects(
        fetchChecked(url, expected),
        new Error(`${url} has the SHA-256 ${found}, but ${expected} is expected`),
      )
      await assert.rejects(fetchChecked(url, undefined), new Error(`no digest is known for ${url}`))
    } finally {
      server.close()
    }
  })

  it('waits for another set-up that is at work, and says so', async () => {
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

  it('gets the lock of a set-up that was killed', async () => {
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

  it('does not get things again as long as its own files and those that it got have not changed', async () => {
    cpSync(setup, path.join(directory, 'setup'), { recursive: true })
    const brought = path.join(directory, 'brought')
    writeFileSync(brought, '')
    const program = `import { broughtThings, writeSetup } from '${directory}/setup/stamp.mjs'
      import { rmSync } from 'node:fs'
      const things = { kept: { files: [], paths: {} }, lost: { files: [], paths: { lost: '${brought}' } } }
      const names = (stamp) => console.log(Object.keys(broughtThings(stamp)).join())
      names('now')
      writeSetup({ stamp: 'now', things, paths: {} })
      names('now')
      names('later')
      rmSync('${brought}')
      names('now')`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
    assert.deepEqual(stdout.split('\n').slice(0, 4), ['', 'kept,lost', '', 'kept'])
  })

  it('leaves nothing with the final name if it could not finish', async () => {
    const made = path.join(directory, 'thing')
    const program = `import { directoryOnce } from '${setup}/replace.mjs'
      await directoryOnce('${made}', async () => { throw new Error('half-way') }).catch(() => {})`
    await once(evaluate(program), 'exit')
    assert.equal(existsSync(made), false)
  })
})

describe('a stack that root starts', () => {
  it('lets set-up install the program that makes the users of its parts; without root it is not needed', () => {
    const absent = (isRoot: boolean) => absentPackages(needsOf([]), { isRoot, has: () => false })
    assert.ok(absent(true).includes('passwd'))
    assert.deepEqual(
      absent(true).filter((name: string) => !absent(false).includes(name)),
      ['passwd'],
    )
    assert.deepEqual(absentPackages(needsOf([]), { isRoot: true, has: () => true }), [])
  })
})

describe('a further host of an installation', () => {
  const needs = needsOf(['--host'])

  it('gets what runs virtual machines and what makes the network between the hosts', () => {
    const wanted = ['npmPackages', 'qemu-system-x86', 'kernel', 'guest', 'nftables', 'wireguard-tools']
    assert.deepEqual(
      [...wanted, 'wireguard-go'].filter((need) => !needs.includes(need)),
      [],
    )
    const unknown = needs.filter((need) => !isDebianPackage(need) && !Object.hasOwn(things, need))
    assert.deepEqual(unknown, [], `set-up knows no ${unknown.join(', ')}`)
  })

  it('gets no services, no workflows and no console', () => {
    const elsewhere = ['registry', 'temporalCli', 'workflowBundle', 'consolePages', 'sampleImages']
    assert.deepEqual(
      elsewhere.filter((need) => needs.includes(need)),
      [],
    )
  })

  it('finds all of it there after the set-up for the tests', async () => {
    const { stdout } = await run(process.execPath, [path.join(setup, 'setup.mjs'), '--host'])
    assert.match(stdout, /^Set-up is complete/)
  })
})

describe('the benchmark', () => {
  it('has all that each of its sections needs set up', () => {
    for (const [section, needs] of Object.entries(benchSections)) {
      assert.ok(needs.includes('npmPackages'), section)
      const unknown = needs.filter((need) => !isDebianPackage(need) && !Object.hasOwn(things, need))
      assert.deepEqual(unknown, [], `set-up knows no ${unknown.join(', ')} for ${section}`)
    }
  })

  it('has nothing set up that a section does not need', () => {
    // Only this section measures with Temporal's production server, too.
    const expected: Readonly<Record<string, readonly string[]>> = { hosts: ['temporalServer'] }
    for (const section of Object.keys(benchSections)) {
      const needs = needsOf(['--bench', section])
      assert.deepEqual(
        needs.filter((need) => ['temporalServer', 'testServer', 'chromium'].includes(need)),
        expected[section] ?? [],
        section,
      )
    }
    const gateway = needsOf(['--bench', 'gateway'])
    const ofStacks = ['kernel', 'guest', 'qemu-system-x86', 'temporalCli', 'registry', 'sampleImages']
    assert.deepEqual(
      ofStacks.filter((need) => gateway.includes(need)),
      [],
    )
    assert.ok(gateway.includes('loadTools'))
  })

  it('takes the options of a section for no names of sections', () => {
    const hosts = needsOf(['--bench', 'hosts'])
    assert.deepEqual(needsOf(['--bench', 'hosts', '--hosts', '20', '--instances=500']), hosts)
    assert.deepEqual(needsOf(['--bench', '--hosts', '20', 'hosts']), hosts)
  })

  it('gets nothing more set up if everything is there for the tests', async () => {
    const { stdout } = await run(process.execPath, [path.join(setup, 'setup.mjs'), '--bench'])
    assert.match(stdout, /^Set-up is complete/)
  })

  it('names its sections if another one is asked for, before anything is set up', async () => {
    const refused = run(process.execPath, [path.join(setup, 'setup.mjs'), '--bench', 'gatway'])
    await assert.rejects(refused, ({ code, stdout }: { code: number; stdout: string }) => {
      assert.equal(code, 1)
      assert.match(stdout, /^There is no section gatway. There are starts, .*gateway/)
      return true
    })
  })
})

describe('a program that is extracted and not installed', () => {
  const installed = readInstalled()
  const directory = installed.loadTools ?? ''

  it('finds every library that it is linked with', async () => {
    const programs = ['usr/bin', 'usr/sbin'].flatMap((folder) =>
      readdirSync(path.join(directory, folder)).map((name) => path.join(folder, name)),
    )
    for (const wanted of ['usr/bin/h2load', 'usr/bin/caddy', 'usr/sbin/haproxy', 'usr/sbin/nginx'])
      assert.ok(programs.includes(wanted), wanted)
    for (const program of programs.filter((file) => isProgram(path.join(directory, file))))
      assert.deepEqual(await missingLibraries(directory, program), [], program)
    const { dir, base } = path.parse(installed.registry ?? '')
    assert.deepEqual(await missingLibraries(dir, base), [])
  })

  it('is recognised as incomplete if one of its libraries is missing', async () => {
    const broken = mkdtempSync(path.join(tmpdir(), 'roost-libraries-'))
    try {
      const program = readFileSync(path.join(directory, 'usr/bin/h2load')).toString('latin1')
      assert.ok(program.includes('libjemalloc.so.2'))
      const renamed = program.replaceAll('libjemalloc.so.2', 'libnobody__.so.2')
      writeFileSync(path.join(broken, 'h2load'), renamed, { encoding: 'latin1', mode: 0o755 })
      assert.ok((await missingLibraries(broken, 'h2load')).includes('libnobody__.so.2'))
    } finally {
      rmSync(broken, { recursive: true, force: true })
    }
  })
})

/** Whether the file is an ELF program, and not a script. */
function isProgram(file: string): boolean {
  return readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF'
}

async function nextOutput(child: ReturnType<typeof spawn>): Promise<string> {
  assert.ok(child.stdout)
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  return chunk.toString()
}

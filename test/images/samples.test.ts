import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DiskRoom } from '../../src/host/disk-room.ts'
import { openRegistryImages } from '../../src/host/images/registry-images.ts'
import type { ContainerImage, Images } from '../../src/host/images/images.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { createImageResolver } from '../../src/registry/image-resolver.ts'
import { seedOfficialImages } from '../../src/registry/seed-official.ts'
import { startTestRegistry } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'
import { unpackProgram } from './host-fixture.ts'
import { wanted } from './wanted-image.ts'

const run = promisify(execFile)
const builder = join(import.meta.dirname, '../../samples/build.ts')

describe('the official images', () => {
  let registry: TestRegistry
  let layout: string
  let store: string
  let images: Images
  before(async () => {
    registry = await startTestRegistry()
    layout = await mkdtemp(join(tmpdir(), 'roost-samples-'))
    store = await mkdtemp(join(tmpdir(), 'roost-images-'))
    await run(process.execPath, [builder, layout])
    images = await openRegistryImages({
      directory: store,
      unpackProgram,
      pinned: () => [],
      disk: new DiskRoom(),
      client: registry.client,
    })
  })
  after(async () => {
    await registry.close()
    await rm(layout, { recursive: true })
    await rm(store, { recursive: true })
  })

  async function prepared(name: string): Promise<ContainerImage> {
    const found = await createImageResolver(registry.client).resolve('anyone', name)
    assert.equal(found.kind, 'found')
    const image = await images.prepare(wanted(found.reference))
    assert.equal(image.kind, 'container')
    return image
  }

  it('are put into the registry once', async () => {
    const seed = () => seedOfficialImages({ http: registry.http, directory: layout })
    assert.deepEqual(await seed(), [
      'official/hello:latest',
      'official/counter:latest',
      'official/busy:latest',
      'official/busybox:latest',
    ])
    assert.deepEqual(await seed(), [])
  })

  it('are the same each time they are built', async () => {
    const again = await mkdtemp(join(tmpdir(), 'roost-samples-'))
    await run(process.execPath, [builder, again])
    const index = (directory: string) => readFile(join(directory, 'index.json'), 'utf8')
    assert.equal(await index(again), await index(layout))
    await rm(again, { recursive: true })
  })

  it('hello is one static program', async () => {
    const image = await prepared('hello')
    assert.deepEqual([...image.entrypoint, ...image.command], ['/hello'])
    const program = execFileSync('unsquashfs', ['-cat', image.rootfsPath, 'hello'])
    assert.equal(program.toString('hex', 0, 4), '7f454c46')
    assert.ok(!program.includes('/lib64/ld-linux'))
    assert.ok(program.includes('listening on %d'))
  })

  it('busybox has its applets, runs its arguments as the command, and sleeps for ever without any', async () => {
    const image = await prepared('busybox')
    assert.deepEqual(image.entrypoint, [])
    assert.deepEqual(image.command, ['/bin/sleep', 'infinity'])
    const listing = execFileSync('unsquashfs', ['-lls', image.rootfsPath], { encoding: 'utf8' })
    for (const applet of ['bin/sh', 'bin/sleep', 'usr/bin/wget', 'usr/bin/env', 'bin/sync']) {
      assert.match(listing, new RegExp(`squashfs-root/${applet} -> /bin/busybox`))
    }
    assert.match(listing, /^drwxrwxrwt.*squashfs-root\/tmp$/m)
  })

  describe('busy', () => {
    let program: string
    let port: number
    before(async () => {
      const image = await prepared('busy')
      program = join(store, 'busy')
      const content = execFileSync('unsquashfs', ['-cat', image.rootfsPath, 'busy'])
      await writeFile(program, content, { mode: 0o755 })
      ;({ port } = await rememberedPorts(join(store, 'ports.json'), ['port']))
    })

    /** Runs `busy` on this machine. `ended` tells it to end, and resolves with its exit code. */
    async function started() {
      const child = spawn(program, [String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
      const agent = new Agent({ keepAlive: true, timeout: 30_000 })
      const exit = once(child, 'exit')
      await once(child.stdout, 'data')
      return {
        ask: (path: string) => answerOf(`http://127.0.0.1:${port}${path}`, agent),
        async ended() {
          child.kill('SIGTERM')
          const [code] = (await exit) as [number | null]
          agent.destroy()
          return code
        },
      }
    }

    it('burns as much CPU as it is asked for, and names the instance', async () => {
      const busy = await started()
      const asked = process.hrtime.bigint()
      const answer = await busy.ask('/?ms=150')
      assert.ok(process.hrtime.bigint() - asked >= 150_000_000n)
      assert.deepEqual(answer, { status: 200, text: `${hostname()} burned 150 ms\n` })
      assert.equal((await busy.ask('/')).text, `${hostname()} burned 20 ms\n`)
      assert.equal((await busy.ask('/?ms=-5')).text, `${hostname()} burned 0 ms\n`)
      for (const path of ['/?ms=', '/?ms=1x', '/?s=1']) assert.equal((await busy.ask(path)).status, 400, path)
      assert.equal((await busy.ask('/other')).status, 404)
      assert.equal(await busy.ended(), 0)
    })

    it('answers other requests while it burns, and burns for 2 s at most', async () => {
      const busy = await started()
      const slow = busy.ask('/?ms=999999')
      assert.deepEqual(await busy.ask('/healthz'), { status: 200, text: 'ok\n' })
      const first = await Promise.race([slow, busy.ask('/?ms=1')])
      assert.equal(first.text, `${hostname()} burned 1 ms\n`)
      assert.equal((await slow).text, `${hostname()} burned 2000 ms\n`)
      assert.equal(await busy.ended(), 0)
    })

    it('answers what is in flight when it is told to end, and ends', async () => {
      const busy = await started()
      await busy.ask('/healthz')
      const slow = [busy.ask('/?ms=300'), busy.ask('/?ms=200')]
      await busy.ask('/?ms=1')
      const ended = busy.ended()
      assert.deepEqual(
        (await Promise.all(slow)).map(({ status }) => status),
        [200, 200],
      )
      assert.equal(await ended, 0)
      await assert.rejects(busy.ask('/healthz'))
    })
  })
})

async function answerOf(url: string, agent: Agent) {
  const [answer] = await once(get(url, { agent }), 'response')
  let text = ''
  for await (const piece of answer.setEncoding('utf8')) text += piece
  return { status: answer.statusCode as number, text }
}

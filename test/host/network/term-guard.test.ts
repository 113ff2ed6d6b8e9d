import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { until } from '../../support/until.ts'
import { nicOf } from './conformance.ts'
import { outsideAddress, TapScene } from './tap-scene.ts'

const port = 7_000
const limit = { limitMs: 10_000 }

describe("the guard of a host's term", function () {
  const scene = new TapScene('term')
  const nic = nicOf(2)
  let network: TapNetwork
  /** What came back over the connection of the instance to the outside, and over that of the host to it. */
  let heard: Record<'outside' | 'host', number>
  const children: ReturnType<typeof spawn>[] = []

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await scene.open()
    scene.addOutside()
    network = new TapNetwork({ ...scene.options, outbound: true })
    await network.open()
    const vm = scene.addVm('vm', nic)
    await network.attach(nic)
    await running(scene.outside, echo(outsideAddress), () => undefined)
    await running(vm, echo(nic.ip), () => undefined)
    heard = { outside: 0, host: 0 }
    await running(vm, talk(outsideAddress), (bytes) => (heard.outside += bytes))
    await running(scene.host, talk(nic.ip), (bytes) => (heard.host += bytes))
  })
  beforeEach(async () => {
    await network.guard(undefined)
    await goesOn()
  })
  after(async () => {
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
    await network?.close()
    scene.close()
  })

  const echo = (address: string): string => `
    require('node:net').createServer((s) => s.on('error', () => {}).pipe(s))
      .listen(${port}, '${address}', () => console.log('up'))`
  /** Asks for an answer ten times a second, over one connection. */
  const talk = (address: string): string => `
    const s = require('node:net').connect({ host: '${address}', port: ${port} })
    s.on('connect', () => console.log('up')).pipe(process.stdout)
    setInterval(() => s.write('.'), 100)`

  async function running(namespace: string, script: string, hear: (bytes: number) => void): Promise<void> {
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', script])
    children.push(child)
    child.stderr.pipe(process.stderr)
    let isUp = false
    child.stdout.on('data', (chunk: Buffer) => {
      if (isUp) hear(chunk.length)
      isUp = true
    })
    await until('it runs', () => isUp, { limitMs: 30_000 })
  }

  /** Resolves once there are new answers on both connections. */
  async function goesOn(): Promise<void> {
    const before = { ...heard }
    await until('both are answered', () => heard.outside > before.outside && heard.host > before.host, limit)
  }

  async function isSilent(): Promise<void> {
    await delay(200)
    const before = { ...heard }
    await delay(1_000)
    assert.deepEqual(heard, before)
  }

  it('lets everything pass for the time that it was given, and then nothing, although nobody does anything', async () => {
    await network.guard(2_000)
    const overAtMs = performance.now() + 1_800
    await goesOn()
    const before = { ...heard }
    await delay(overAtMs - performance.now())
    assert.ok(heard.outside > before.outside && heard.host > before.host)
    await delay(400)
    await isSilent()
    // What is open goes on once the term was renewed.
    await network.guard(10_000)
    await goesOn()
  })

  it('counts a renewed time from its renewal, be it longer or shorter', async () => {
    await network.guard(1_000)
    await network.guard(60_000)
    await delay(1_200)
    await goesOn()
    await network.guard(500)
    await delay(700)
    await isSilent()
  })

  it('is neither opened nor closed by an agent that starts', async () => {
    // An agent attaches what runs again when it starts.
    const nextAgent = async (): Promise<void> => {
      network = new TapNetwork({ ...scene.options, outbound: true })
      await network.open()
      await network.attach(nic)
    }
    await network.guard(0)
    await nextAgent()
    await isSilent()
    await network.guard(60_000)
    await goesOn()
    await nextAgent()
    await goesOn()
    await network.guard(0)
    await isSilent()
  })

  it('is not there without a term, and fails rather than promise what it can not keep', async () => {
    const tables = async (): Promise<string> => await scene.inHost('nft', 'list', 'tables')
    assert.doesNotMatch(await tables(), /_term/)
    await network.guard(60_000)
    assert.match(await tables(), /_term/)
    await scene.inHost('nft', 'delete', 'table', 'inet', `${scene.plan.table}_term`)
    await assert.rejects(network.guard(60_000))
    await network.guard(60_000)
    assert.match(await tables(), /_term/)
  })
})

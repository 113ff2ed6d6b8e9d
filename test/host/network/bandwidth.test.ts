import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bandwidthRules, burstBytes } from '../../../src/host/network/bandwidth-rules.ts'
import { ConnectionTable } from '../../../src/host/network/connection-table.ts'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { UserNetwork } from '../../../src/host/network/user-network.ts'
import { until } from '../../support/until.ts'
import { nicOf } from './conformance.ts'
import { outsideAddress, TapScene } from './tap-scene.ts'

const mbit = 8
const bytesPerMs = mbit * 125
/**
 * The bytes that may pass at once beyond the rate: one second's worth, which the kernel always lets pass,
 * and the burst.
 */
const atOnceBytes = 1_000 * bytesPerMs + burstBytes
const enoughBytes = 3 * atOnceBytes
const port = 7_000

describe('the bandwidth of an instance', function () {
  it('has no rule if no bandwidth is set', () => {
    assert.deepEqual(bandwidthRules(undefined, { most: 1 }), { sets: [], sent: [], received: [] })
  })

  it('is said to have no effect if the agent is not root', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'roost-bandwidth-'))
    const said: string[] = []
    const network = new UserNetwork({
      directory,
      bandwidthMbit: mbit,
      warn: (message) => said.push(message),
    })
    await network.open()
    assert.match(said.join(), /^a bandwidth of 8 Mbit\/s is set but this agent is not root/)
    await rm(directory, { recursive: true })
  })

  describe('on a host', () => {
    const scene = new TapScene('band')
    const [one, two] = [nicOf(2), nicOf(3)]
    let network: TapNetwork
    let vms: Record<'one' | 'two', string>
    const children: ChildProcess[] = []

    before(async function () {
      if (process.getuid?.() !== 0) return this.skip()
      await scene.open()
      scene.addOutside()
      vms = { one: scene.addVm('one', one), two: scene.addVm('two', two) }
      const connectionTable = new ConnectionTable({ entries: scene.procNet('stat/nf_conntrack') })
      network = new TapNetwork({ ...scene.options, outbound: true, bandwidthMbit: mbit, connectionTable })
      await network.open()
      assert.deepEqual(scene.warnings, [])
      await Promise.all([one, two].map(async (nic) => await network.attach(nic)))
    })
    afterEach(async () => {
      for (const child of children.splice(0)) {
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
      }
    })
    after(async () => {
      await network?.close()
      scene.close()
    })

    function start(namespace: string, script: string): ChildProcess {
      const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', script])
      child.stderr.pipe(process.stderr)
      children.push(child)
      return child
    }

    /**
     * Sends without end over TCP from one namespace into another. Returns how much arrived and in which
     * time.
     */
    async function flow(from: string, to: { readonly namespace: string; readonly address: string }) {
      const receiver = start(
        to.namespace,
        `require('node:net').createServer((s) => s.on('data', (b) => console.log(b.length)).on('error', () => {}))
          .listen(${port}, '${to.address}', () => console.log(0))`,
      )
      let bytes = 0
      let rest = ''
      let up = false
      receiver.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        up = true
        for (const line of lines) bytes += Number(line)
      })
      await until('it listens', () => up, { limitMs: 30_000 })
      const beganAtMs = performance.now()
      start(
        from,
        `const s = require('node:net').connect({ host: '${to.address}', port: ${port} })
        const send = () => { while (s.write(Buffer.alloc(65536))); }
        s.on('connect', send).on('drain', send).on('error', () => {})`,
      )
      await until('enough to tell', () => bytes > enoughBytes, { limitMs: 50_000 })
      return { bytes, elapsedMs: performance.now() - beganAtMs }
    }

    const outside = { namespace: scene.outside, address: outsideAddress }
    const flows = [
      ['what it sends outside', () => flow(vms.one, outside)],
      ['what it is sent by the host', () => flow(scene.host, { namespace: vms.one, address: one.ip })],
      ['what it sends to a peer', () => flow(vms.one, { namespace: vms.two, address: two.ip })],
    ] as const
    for (const [title, run] of flows) {
      it(`bounds ${title}`, async () => {
        const droppedBefore = (await network.load())?.dropped.bandwidth ?? NaN
        const { bytes, elapsedMs } = await run()
        assert.ok(bytes <= atOnceBytes + elapsedMs * bytesPerMs, `${bytes} bytes in ${elapsedMs} ms`)
        assert.ok(((await network.load())?.dropped.bandwidth ?? NaN) > droppedBefore)
      })
    }
  })
})

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { connectKeeper } from '../../src/host/vmm/keeper-link.ts'
import type { KeeperLink } from '../../src/host/vmm/keeper-link.ts'
import { startKeeper } from '../../src/host/vmm/keeper-process.ts'
import { parseVmEvents } from '../../src/host/vmm/vm-events.ts'
import { WaitingKeepers } from '../../src/host/vmm/waiting-keepers.ts'
import { signalAll } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 60_000 }
const standIn = path.join(import.meta.dirname, 'stand-in-vmm.ts')
const guests = 10

/** What an agent heard of one guest. */
interface Heard {
  readonly directory: string
  readonly link: KeeperLink
  readonly words: string[]
  text: string
  /** Of the keeper. */
  pid: number
  /** A keeper lets go of an agent that can not read as fast as it is told. */
  closed: boolean
}

describe('guests that shout on their control channels', () => {
  let bench: QemuBench
  let keepers: WaitingKeepers
  let pids: number[] = []

  before(async () => {
    bench = await openQemuBench()
    keepers = new WaitingKeepers(bench.keeperPrograms)
  })
  after(async () => {
    await keepers.close()
    await bench.close()
  })
  // Its VMM dies with it.
  afterEach(() => {
    signalAll(pids, 'SIGKILL')
    pids = []
  })

  async function guest(name: string, ...says: readonly string[]): Promise<Heard> {
    const directory = path.join(bench.directory, name)
    mkdirSync(directory)
    const { keeperPath } = bench.context.assets
    // The guest goes on from its snapshot, so its application was entered long ago.
    const incoming = { fd: 3, source: 'snapshot', carried: ['output=0', 'listening=0'] } as const
    const command = [process.execPath, standIn, ...says]
    const where = { keeperPath, directory, consoleDirectory: directory }
    const what = { guest: 'container', incoming, files: [], config: Buffer.alloc(0), command } as const
    await startKeeper({ ...where, ...what }, await keepers.take('ann'))
    const link = await until('the keeper accepts', async () => await connectKeeper(directory), limit)
    const heard: Heard = { directory, link, words: [], text: '', pid: 0, closed: false }
    link.on('word', (word) => heard.words.push(word))
    link.once('close', () => (heard.closed = true))
    link.on('text', (text) => (heard.text = text))
    const keeper = () => parseVmEvents(heard.text).find(({ what }) => what === 'keeper')
    heard.pid = Number((await until('it says who it is', keeper, limit)).words[0])
    pids.push(heard.pid)
    return heard
  }

  const namesOf = ({ text }: Heard): readonly string[] => parseVmEvents(text).map(({ what }) => what)
  const sizeOf = ({ directory }: Heard, file: string): number => statSync(path.join(directory, file)).size

  it('an agent hears of each ten times a second at most, and of its last word; its files do not grow', async () => {
    const beganAtMs = performance.now()
    // 64 KB of each, in 6 s.
    const all = await Promise.all(
      Array.from({ length: guests }, async (_, index) => await guest(`guest-${index}`, 'shout', '150')),
    )
    const isOver = (heard: Heard): boolean => heard.closed || namesOf(heard).includes('exit')
    await until('each is heard to its end', () => all.every(isOver), limit)
    assert.equal(all.filter(({ closed }) => closed).length, 0, 'agents were let go')
    await until('its last word is told', () => all.every(({ words }) => words.at(-1) === 'disabled 1'), limit)
    const mostWords = (performance.now() - beganAtMs) / 100 + 3
    for (const heard of all) {
      assert.ok(heard.words.length <= mostWords, `${heard.words.length} words, ${mostWords} permitted`)
      assert.deepEqual(
        heard.words.filter((word) => !/^(disabled|stalled) [01]$/.test(word)),
        [],
      )
      assert.deepEqual(namesOf(heard), [...new Set(namesOf(heard))])
      assert.ok(sizeOf(heard, 'events') < 8_192)
      assert.ok(sizeOf(heard, 'vmm.log') <= 65_536)
    }
  })

  it('the keeper of one that never ends reads no faster than it may speak, and obeys', async () => {
    const beganAtMs = performance.now()
    const heard = await guest('endless', 'shout', '1000000000')
    const read = (): number =>
      Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${heard.pid}/io`, 'utf8'))?.[1])
    await until('it shouts', () => read() > 48_000, limit)
    // At first 16 KiB, then 8 a millisecond; what else it reads, such as its order, is small.
    const mostBytes = 32_768 + 8 * (performance.now() - beganAtMs)
    assert.ok(read() <= mostBytes, `${read()} bytes, ${mostBytes} permitted`)
    assert.equal(heard.closed, false)
    heard.link.command('kill forced')
    await until('it ends', () => namesOf(heard).includes('ended'), limit)
  })

  it('one answer is told to a question, and none without a question', async () => {
    const heard = await guest('answers', 'answer')
    const answers = (): number => heard.words.filter((word) => word.startsWith('sleep')).length
    await until('it has spoken', () => heard.words.at(-1) === 'disabled 1', limit)
    assert.equal(answers(), 0)
    for (const [asked, then] of [
      [1, 'disabled 0'],
      [2, 'disabled 1'],
    ] as const) {
      heard.link.command('sleep?')
      await until('it has answered', () => heard.words.at(-1) === then, limit)
      assert.equal(answers(), asked)
    }
  })
})

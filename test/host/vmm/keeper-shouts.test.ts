import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { connectKeeper } from '../../../src/host/vmm/keeper-link.ts'
import type { KeeperLink } from '../../../src/host/vmm/keeper-link.ts'
import { parseVmEvents } from '../../../src/host/vmm/vm-events.ts'
import { until } from '../../support/until.ts'
import { KeeperScene } from './keeper-scene.ts'
import type { StandInVm } from './keeper-scene.ts'

const limit = { limitMs: 60_000 }
const guests = 10

/** What an agent heard of one guest. */
interface Heard {
  readonly vm: StandInVm
  readonly link: KeeperLink
  readonly words: string[]
  text: string
  /**
   * Set when the keeper closed the connection, which it does if an agent can not read as fast as it is told.
   */
  closed: boolean
}

describe('guests that shout on their control channels', () => {
  const scene = new KeeperScene()

  async function guest(name: string, ...says: readonly string[]): Promise<Heard> {
    const vm = await scene.start({ name, says })
    const link = await until('the keeper accepts', async () => await connectKeeper(vm.directory), limit)
    const heard: Heard = { vm, link, words: [], text: '', closed: false }
    link.on('word', (word) => heard.words.push(word))
    link.once('close', () => (heard.closed = true))
    link.on('text', (text) => (heard.text = text))
    return heard
  }

  const namesOf = ({ text }: Heard): readonly string[] => parseVmEvents(text).map(({ what }) => what)
  const sizeOf = ({ vm }: Heard, file: string): number => statSync(path.join(vm.directory, file)).size

  it('are reported to an agent at most ten times a second, and always the last word; the files do not grow', async () => {
    const beganAtMs = performance.now()
    // Each guest says 62 KB. Its keeper reads the first 16 KiB at once and the rest in 6 s.
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

  it('are read no faster than they may speak, even if they never end, and their keeper obeys', async () => {
    const beganAtMs = performance.now()
    const heard = await guest('endless', 'shout', '1000000000')
    const read = (): number =>
      Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${heard.vm.pid}/io`, 'utf8'))?.[1])
    await until('it shouts', () => read() > 48_000, limit)
    // The guest may say 16 KiB at first, then 8 bytes a millisecond. The other bytes that the keeper reads,
    // such as its order, are few.
    const mostBytes = 32_768 + 8 * (performance.now() - beganAtMs)
    assert.ok(read() <= mostBytes, `${read()} bytes, ${mostBytes} permitted`)
    assert.equal(heard.closed, false)
    heard.link.command('kill forced')
    await until('it ends', () => namesOf(heard).includes('ended'), limit)
  })

  it('give one answer to a question, and none without a question', async () => {
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

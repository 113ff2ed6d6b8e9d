import assert from 'node:assert/strict'
import type { RouteLine, RouteNode } from '../../../src/domain/service/route-feed.ts'
import { BlockSink } from '../../../src/gateway/processes/block-sink.ts'
import { RouteSender } from '../../../src/gateway/processes/route-sender.ts'
import { RouteTable } from '../../../src/gateway/route-table.ts'

const node = (id: string, agentUrl = 'http://a'): RouteNode => ({ id, agentUrl, trafficSecret: 's' })
const nodes = (table: RouteTable): readonly RouteNode[] => [...table.nodes()]

/** A table with a feed, and a copy of it behind a channel that a test opens piece by piece. */
class Scene {
  readonly table = new RouteTable()
  readonly copy = new RouteTable()
  readonly sender: RouteSender
  readonly sizes: number[] = []
  heard = 0
  #taken: (() => void)[] = []
  /** Whether the channel takes everything at once. */
  quick = true
  readonly #sink: BlockSink

  constructor(maxWaitingLines?: number) {
    this.sender = new RouteSender({
      table: this.table,
      send: async (lines) => {
        this.sizes.push(lines.length)
        for (const line of lines) this.copy.apply(line)
        if (!this.quick) await new Promise<void>((resolve) => this.#taken.push(resolve))
      },
      ...(maxWaitingLines === undefined ? {} : { maxWaitingLines }),
    })
    this.#sink = new BlockSink(this.table, {
      block: (lines) => this.sender.add(lines),
      heard: () => void (this.heard += 1),
    })
  }

  tell(revision: string, ...lines: readonly RouteLine[]): void {
    this.#sink.apply({ kind: 'begin', snapshot: false })
    for (const line of lines) this.#sink.apply(line)
    this.#sink.apply({ kind: 'end', revision })
  }

  apply(line: RouteLine): void {
    this.#sink.apply(line)
  }

  open(): void {
    this.quick = true
    for (const taken of this.#taken.splice(0)) taken()
  }

  async equal(): Promise<void> {
    for (let turn = 0; turn < 1_000 && this.copy.revision !== this.table.revision; turn++) await turnOver()
    assert.equal(this.copy.revision, this.table.revision)
    assert.deepEqual(nodes(this.copy), nodes(this.table))
  }
}

const turnOver = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

describe('the routes of a serving process', () => {
  it('are sent as a whole in small pieces, and then block by block', async () => {
    const scene = new Scene()
    scene.tell(
      '1',
      ...Array.from({ length: 120 }, (_, at) => ({ kind: 'node', node: node(`n${at}`) }) as const),
    )
    await scene.sender.start()
    await scene.equal()
    assert.deepEqual(scene.sizes, [50, 50, 22])
    scene.tell('2', { kind: 'gone', what: 'node', id: 'n0' })
    scene.tell('3', { kind: 'node', node: node('n1', 'http://b') })
    await scene.equal()
    assert.deepEqual(scene.sizes.slice(3), [3, 3])
  })

  it('are nothing as long as the main process knows none, and start without waiting for them', async () => {
    const scene = new Scene()
    await scene.sender.start()
    assert.deepEqual(scene.sizes, [])
    scene.tell('1', { kind: 'node', node: node('a') })
    await scene.equal()
  })

  it('lose no block that comes while the whole table is being sent', async () => {
    const scene = new Scene()
    scene.tell(
      '1',
      ...Array.from({ length: 100 }, (_, at) => ({ kind: 'node', node: node(`n${at}`) }) as const),
    )
    scene.quick = false
    const started = scene.sender.start()
    scene.tell('2', { kind: 'node', node: node('n0', 'http://b') }, { kind: 'gone', what: 'node', id: 'n99' })
    assert.equal(scene.copy.revision, undefined)
    scene.open()
    await started
    await scene.equal()
  })

  it('are sent as a whole again to a process that has fallen too far behind', async () => {
    const scene = new Scene(10)
    scene.tell('1', { kind: 'node', node: node('a') })
    await scene.sender.start()
    scene.quick = false
    for (let at = 2; at < 40; at++) scene.tell(String(at), { kind: 'node', node: node('a', `http://${at}`) })
    scene.open()
    await scene.equal()
    assert.ok(scene.sizes.length < 10, String(scene.sizes))
  })

  it('go nowhere once the process has ended', async () => {
    const scene = new Scene()
    scene.tell('1', { kind: 'node', node: node('a') })
    scene.sender.close()
    await scene.sender.start()
    assert.deepEqual(scene.sizes, [])
  })

  it('count as heard with every block and every beat, and not within a block', () => {
    const scene = new Scene()
    scene.tell('1', { kind: 'node', node: node('a') })
    scene.apply({ kind: 'beat' })
    scene.apply({ kind: 'begin', snapshot: false })
    scene.apply({ kind: 'node', node: node('b') })
    assert.equal(scene.heard, 2)
  })

  it('contain nothing of a block that was cut short', async () => {
    const scene = new Scene()
    scene.apply({ kind: 'begin', snapshot: false })
    scene.apply({ kind: 'node', node: node('lost') })
    scene.tell('1', { kind: 'node', node: node('a') })
    await scene.sender.start()
    await scene.equal()
    assert.deepEqual(
      nodes(scene.copy).map(({ id }) => id),
      ['a'],
    )
  })
})

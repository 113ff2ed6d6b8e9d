import assert from 'node:assert/strict'
import { CannotLeave } from '../../../src/launch/parts/cannot-leave.ts'
import type { RunningPart } from '../../../src/launch/platform.ts'
import { PartStartError } from '../../../src/launch/parts/part-run.ts'
import { UpgradeFailure, exchangeParts } from '../../../src/launch/upgrade/exchange.ts'
import type { ExchangeStep } from '../../../src/launch/upgrade/exchange.ts'

type Fault = 'never starts' | 'ends soon' | 'does not start again'

/** A part that notes in a journal what is done with it. */
class NotedPart implements RunningPart {
  readonly name: string
  readonly handsOver: boolean
  ends = 0
  runs: boolean
  readonly #title: string
  readonly #journal: string[]
  readonly #fault: Fault | undefined

  constructor(
    journal: string[],
    of: { name: string; version: string; handsOver?: boolean; runs?: boolean; fault?: Fault | undefined },
  ) {
    this.#journal = journal
    this.name = of.name
    this.handsOver = of.handsOver ?? false
    this.runs = of.runs ?? false
    this.#title = `${of.name} ${of.version}`
    this.#fault = of.fault
  }

  async start(): Promise<void> {
    assert.ok(!this.runs, `${this.#title} runs already`)
    this.#journal.push(`start ${this.#title}`)
    if (this.#fault === 'never starts' || this.#fault === 'does not start again')
      throw new Error(`${this.#title} was not ready`)
    this.runs = true
    if (this.#fault === 'ends soon') setTimeout(() => (this.ends += 1), 1)
  }

  insist(): void {
    this.#journal.push(`insist on ${this.#title}`)
  }

  async stop(): Promise<void> {
    if (this.runs) this.#journal.push(`stop ${this.#title}`)
    this.runs = false
  }

  async handOverTo(startNext: () => Promise<void>): Promise<void> {
    if (!this.runs) throw new CannotLeave(`${this.#title} does not run`)
    this.#journal.push(`${this.#title} wants to leave`)
    await startNext()
    this.#journal.push(`${this.#title} leaves`)
    this.runs = false
  }
}

describe('an exchange of parts', () => {
  let journal: string[]
  let said: string[]
  let steps: ExchangeStep[]
  let closing: AbortController
  beforeEach(() => {
    closing = new AbortController()
    journal = []
    said = []
    steps = []
  })

  const before = (...names: readonly string[]) =>
    names.map(
      (name) => new NotedPart(journal, { name, version: '1', handsOver: name === 'gateway', runs: true }),
    )
  const next = (faults: Readonly<Record<string, Fault>>, ...names: readonly string[]) =>
    names.map(
      (name) =>
        new NotedPart(journal, { name, version: '2', handsOver: name === 'gateway', fault: faults[name] }),
    )
  const exchange = async (from: readonly NotedPart[], to: readonly NotedPart[]) =>
    await exchangeParts(from, to, {
      say: (text) => said.push(text),
      onStep: async (step) => void steps.push(step),
      closing: closing.signal,
      provenAfterMs: 10,
    })
  const running = (parts: readonly NotedPart[]) => parts.filter(({ runs }) => runs).map(({ name }) => name)

  it('stops and starts one part after the other, and lets those hand over that can', async () => {
    await exchange(before('api', 'agent', 'gateway'), next({}, 'api', 'agent', 'gateway'))
    assert.deepEqual(journal, [
      'stop api 1',
      'start api 2',
      'stop agent 1',
      'start agent 2',
      'gateway 1 wants to leave',
      'start gateway 2',
      'gateway 1 leaves',
    ])
    assert.deepEqual(
      said,
      ['api', 'agent', 'gateway'].map((name) => `${name} is of the next version`),
    )
  })

  it('tells each part before its turn, and on the way back why', async () => {
    const names = ['api', 'agent', 'gateway']
    const to = next({}, ...names)
    to[2]!.start = async () => {
      const shortly = 'gateway ended before it was ready'
      await Promise.reject(
        new PartStartError(`${shortly}; it said last: a line`, { cause: undefined, shortly }),
      )
    }
    await assert.rejects(exchange(before(...names), to), (error) => {
      assert.ok(error instanceof UpgradeFailure)
      assert.equal(error.shortly, 'gateway ended before it was ready')
      return true
    })
    const why = 'gateway ended before it was ready'
    assert.deepEqual(steps, [
      { part: 'api', exchanged: 0, parts: 3 },
      { part: 'agent', exchanged: 1, parts: 3 },
      { part: 'gateway', exchanged: 2, parts: 3 },
      { part: 'agent', exchanged: 2, parts: 3, why },
      { part: 'api', exchanged: 1, parts: 3, why },
    ])
  })

  it('says shortly which part failed, and nothing of an error that may repeat settings', async () => {
    const dead = new NotedPart(journal, {
      name: 'api',
      version: '1',
      runs: true,
      fault: 'does not start again',
    })
    const to = next({ agent: 'never starts' }, 'api', 'agent')
    await assert.rejects(exchange([dead, before('agent')[0]!], to), {
      shortly:
        'agent could not be exchanged; the log of the platform says why; ' +
        'api did not start again, and is tried on and on',
    })
  })

  it('starts what is new in its place, and ends at last what is not needed any more', async () => {
    await exchange(before('old', 'api'), next({}, 'new', 'api'))
    assert.deepEqual(journal, ['start new 2', 'stop api 1', 'start api 2', 'stop old 1'])
  })

  for (const fault of ['never starts', 'ends soon'] as const)
    for (const name of ['api', 'worker', 'gateway'])
      it(`goes back if ${name} ${fault}, and then all parts are those of before`, async () => {
        const names = ['api', 'worker', 'gateway', 'last']
        const [from, to] = [before(...names), next({ [name]: fault }, ...names)]
        await assert.rejects(exchange(from, to), (error) => {
          assert.ok(error instanceof UpgradeFailure)
          assert.match(error.message, new RegExp(name))
          assert.match(error.message, /the version before runs as it did/)
          return true
        })
        assert.deepEqual(running(from), names)
        assert.deepEqual(running(to), [])
        assert.ok(!journal.includes('start last 2'), 'nothing after it was begun')
      })

  it('goes back in the reverse order', async () => {
    const names = ['api', 'gateway', 'worker']
    await assert.rejects(exchange(before(...names), next({ worker: 'never starts' }, ...names)))
    assert.deepEqual(journal.slice(journal.indexOf('start worker 2') + 1), [
      'start worker 1',
      'gateway 2 wants to leave',
      'start gateway 1',
      'gateway 2 leaves',
      'stop api 2',
      'start api 1',
    ])
  })

  it('says which part of before did not start again, insists on it, and goes back with the others', async () => {
    for (const failed of ['agent', 'api']) {
      journal.length = 0
      const dead = new NotedPart(journal, {
        name: 'api',
        version: '1',
        runs: true,
        fault: 'does not start again',
      })
      const other = before('agent')[0]!
      const to = next({ [failed]: 'never starts' }, 'api', 'agent')
      await assert.rejects(exchange([dead, other], to), /api did not start again, and is tried on and on/)
      assert.deepEqual(running([dead, other]), ['agent'])
      assert.equal(journal.filter((line) => line === 'start api 1').length, 3)
      assert.equal(journal.filter((line) => line === 'insist on api 1').length, 1)
    }
  })

  it('leaves a gateway of the next version at work if that of before does not start again', async () => {
    const dead = new NotedPart(journal, {
      name: 'gateway',
      version: '1',
      handsOver: true,
      runs: true,
      fault: 'does not start again',
    })
    const to = next({ last: 'never starts' }, 'gateway', 'last')
    await assert.rejects(
      exchange([dead], to),
      /gateway did not start again, so that of the next version goes on/,
    )
    assert.deepEqual(running(to), ['gateway'])
  })

  it('stops a part that can not leave, because it does not run, and starts the next one', async () => {
    const [broken] = before('gateway')
    broken!.runs = false
    await exchange([broken!], next({}, 'gateway'))
    assert.deepEqual(journal, ['start gateway 2'])
  })

  it('stops nothing and starts nothing once the platform ends: that ends all parts', async () => {
    const from = before('api', 'agent')
    const to = next({}, 'api', 'agent')
    const agent = to[1]!
    agent.start = async () => {
      closing.abort()
      await Promise.reject(new Error('aborted'))
    }
    await assert.rejects(exchange(from, to), /the platform ended during the upgrade/)
    assert.deepEqual(journal, ['stop api 1', 'start api 2', 'stop agent 1'])
  })
})

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import {
  endOfFailedStart,
  endSentence,
  endSignals,
  onFirstEndSignal,
  PlatformEnd,
  signalOf,
} from '../../../src/launch/end-signals.ts'
import { endSignalOf } from '../../../src/launch/parts/part.ts'
import { agentSignals } from '../../../src/launch/parts/roost-parts.ts'

describe('the signals that end the platform', () => {
  it('end virtual machines, but for one that leaves them running', () => {
    const { EndVms, KeepVms } = PlatformEnd
    assert.deepEqual(endSignals, { SIGINT: EndVms, SIGTERM: EndVms, SIGHUP: EndVms, SIGUSR2: KeepVms })
    for (const end of Object.values(PlatformEnd)) assert.equal(endSignals[signalOf[end]], end)
  })

  it('count once: the first one decides, whatever comes later', () => {
    for (const [first, later] of [
      ['SIGUSR2', 'SIGTERM'],
      ['SIGINT', 'SIGUSR2'],
    ] as const) {
      const source = new EventEmitter()
      const told: unknown[] = []
      onFirstEndSignal((end, signal) => told.push([end, signal]), source)
      for (const signal of [first, later, first]) source.emit(signal)
      assert.deepEqual(told, [[endSignals[first], first]])
    }
  })

  it('are told with what they do to how many virtual machines', () => {
    assert.equal(
      endSentence('SIGINT', 2),
      'stopping on SIGINT: ends 2 virtual machines; `npx roost admin halt --keep-vms` would leave them running',
    )
    assert.equal(
      endSentence('SIGUSR2', 1),
      'stopping on SIGUSR2: leaves 1 virtual machine running, which the next start takes over',
    )
    for (const signal of ['SIGTERM', 'SIGUSR2'] as const)
      assert.equal(endSentence(signal, 0), `stopping on ${signal}: no virtual machine runs`)
  })

  it('reach an agent as the signal that ends its virtual machines, or as the one that leaves them', () => {
    const part = {
      name: 'agent',
      program: 'agent',
      args: [],
      stopLimitMs: 1,
      ready: () => Promise.resolve(),
      ...agentSignals,
    }
    assert.equal(endSignalOf(part, PlatformEnd.EndVms), 'SIGINT')
    assert.equal(endSignalOf(part, PlatformEnd.KeepVms), 'SIGTERM')
    const { keepVmsSignal: _, ...other } = part
    assert.equal(endSignalOf(other, PlatformEnd.KeepVms), 'SIGINT')
  })

  it('are not needed for a start that fails: it leaves what it found, and ends what it began', () => {
    assert.equal(endOfFailedStart(3), PlatformEnd.KeepVms)
    assert.equal(endOfFailedStart(0), PlatformEnd.EndVms)
  })
})

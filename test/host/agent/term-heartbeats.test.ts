import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeAssignment, NodeHeartbeat } from '../../../src/domain/host/api-protocol.ts'
import type { ToldTerm } from '../../../src/host/agent/host-term.ts'
import { Registration } from '../../../src/host/agent/registration.ts'
import type { HeartbeatTerm } from '../../../src/host/agent/registration.ts'
import { until } from '../../support/until.ts'

const limit = { limitMs: 10_000 }
const assignment = { nodeId: 'local', subnet: '10.70.0.0/16' }
const described = { agentUrl: '', agentSecret: '', accelerator: 'fake', memoryMb: 1, volumeMb: 2 } as const
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the heartbeats of a host with a term', () => {
  let directory: string
  /** What happened, in order. */
  let story: string[]
  let beats: NodeHeartbeat[]
  let answers: (NodeAssignment | undefined)[]
  let registration: Registration

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-heartbeats-'))
    story = []
    beats = []
    answers = []
  })
  afterEach(async () => {
    registration.stop()
    await rm(directory, { recursive: true, force: true })
  })

  function open(pauses: { intervalMs: number; retryMs: number }): Registration {
    registration = new Registration({
      agentDirectory: directory,
      nodeId: 'local',
      describe: async () => {
        story.push('described')
        return await Promise.resolve({ ...described, occupiedSubnets: [], version: '' })
      },
      send: async (beat) => {
        story.push('sent')
        beats.push(beat)
        const answer = answers.shift()
        if (answer === undefined) throw new Error('the API is away')
        return await Promise.resolve(answer)
      },
      onReassigned: () => undefined,
      onRefused: () => undefined,
      pauses,
      log: silent,
    })
    return registration
  }

  /** A term that tells these in turn, and asks for the next heartbeat at once if it is told of loss 2. */
  function term(...told: readonly ToldTerm[]): HeartbeatTerm {
    const left = [...told]
    return {
      tell: async () => {
        story.push('told')
        return await Promise.resolve(left.shift() ?? { sentAtMs: 0, loss: 9 })
      },
      take: async ({ sentAtMs }, { loss }) => {
        story.push(`took ${sentAtMs} ${loss}`)
        return await Promise.resolve(loss === 2)
      },
      missed: async () => {
        story.push('missed')
        await Promise.resolve()
      },
    }
  }

  it('tell it last, so that it counts from the sending; each answer is taken for its own heartbeat', async () => {
    answers = [{ ...assignment, loss: 0 }]
    const host = open({ intervalMs: 60_000, retryMs: 60_000 })
    host.keepTerm(term({ sentAtMs: 7, termMs: 60_000, loss: 0 }))
    host.start()
    await until('it is answered', () => story.includes('took 7 0'), limit)
    assert.deepEqual(story, ['described', 'told', 'sent', 'took 7 0'])
    assert.partialDeepStrictEqual(beats, [{ termMs: 60_000, loss: 0 }])
  })

  it('tell none before the agent knows its VMs, and none that it does not promise', async () => {
    answers = [{ ...assignment, termMs: 60_000, loss: 0 }, assignment]
    const host = open({ intervalMs: 60_000, retryMs: 60_000 })
    await host.assignment()
    host.keepTerm(term({ sentAtMs: 7, loss: 0 }))
    host.start()
    await until('both are sent', () => beats.length === 2, limit)
    const names = beats.map((beat) => Object.keys(beat).filter((key) => key === 'termMs' || key === 'loss'))
    assert.deepEqual(names, [[], ['loss']])
  })

  it('come at once after an answer that asks for it, and at the usual time after that', async () => {
    answers = [{ ...assignment, loss: 2 }, assignment, assignment]
    const host = open({ intervalMs: 60_000, retryMs: 60_000 })
    host.keepTerm(term({ sentAtMs: 1, loss: 0 }, { sentAtMs: 2, termMs: 60_000, loss: 2 }))
    host.start()
    await until('the second is answered', () => story.includes('took 2 undefined'), limit)
    assert.deepEqual(
      beats.map(({ loss }) => loss),
      [0, 2],
    )
  })

  it('say so if one was not answered', async () => {
    answers = [undefined, { ...assignment, loss: 0 }]
    const host = open({ intervalMs: 60_000, retryMs: 1 })
    host.keepTerm(term({ sentAtMs: 1, loss: 0 }, { sentAtMs: 2, loss: 0 }))
    host.start()
    await until('the second is answered', () => story.includes('took 2 0'), limit)
    assert.deepEqual(story, ['described', 'told', 'sent', 'missed', 'described', 'told', 'sent', 'took 2 0'])
  })
})

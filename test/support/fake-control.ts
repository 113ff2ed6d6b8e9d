import { InstanceGone } from '../../src/domain/instance/instance-gone.ts'
import type { InstanceControl } from '../../src/control/instance-control.ts'
import type { Database } from '../../src/db/database.ts'
import { findByUuids } from '../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { recordInstance } from '../../src/db/instance/projection.ts'
import { moveRow } from '../../src/db/instance/move.ts'
import { removeInstanceRow } from '../../src/db/instance/records.ts'
import { MoveStep } from '../../src/domain/instance/lifecycle-state.ts'
import { MoveRefused } from '../../src/domain/instance/move-refused.ts'
import type { InstanceProjection } from '../../src/domain/instance/projection.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { TransitionAnswer } from '../../workflows/instance/messages.ts'
import { noteCalls } from './fake-calls.ts'
import type { ControlFaults, FakeCalls } from './fake-calls.ts'

/** The faults and delays of the fake workflows. */
export interface FakeControlFaults extends ControlFaults {
  /** Starts stay in `starting` until `finishStart`. */
  holdsStarts?: boolean
  /** Starts end at once in `stopped`, with this failure. */
  failsStarts?: string
  /** Suspends end at once with this failure. */
  failsSuspends?: string
  /** The workflow refuses moves with this sentence. */
  refusesMoves?: string
  /** Moves stay under way. */
  holdsMoves?: boolean
  /** Moves fail with this sentence. */
  failsMoves?: string
  /** The application ends by itself right after its start. */
  endsAtOnce?: boolean
}

/** A control whose workflows do everything at once. The lifecycle itself has its own tests. */
export interface FakeControl extends InstanceControl, FakeCalls<FakeControlFaults> {
  finishStart(uuid: string): Promise<void>
  record(uuid: string, projection: Partial<InstanceProjection>): Promise<number>
}

export function createFakeControl(database: Database): FakeControl {
  const { faults, calls, called } = noteCalls<FakeControlFaults>()

  async function rowOf(uuid: string): Promise<InstanceRow> {
    const [row] = await findByUuids(database, [uuid])
    if (row === undefined) throw new InstanceGone(uuid)
    return row
  }

  async function record(uuid: string, change: Partial<InstanceProjection>): Promise<number> {
    const row = await rowOf(uuid)
    const revision = row.revision + 1
    const { state, boot, startCount, restartCount, restartAttempt, uptimeMs } = row
    const kept = { state, boot, startCount, restartCount, restartAttempt, uptimeMs }
    await recordInstance(database, { uuid, revision }, { ...kept, ...change })
    return revision
  }

  async function begin(uuid: string): Promise<number> {
    const { startCount, boot } = await rowOf(uuid)
    const counted = { startCount: startCount + 1, boot: boot + 1 }
    const revision = await record(uuid, { state: InstanceState.Starting, ...counted })
    if (faults.holdsStarts) return revision
    if (faults.failsStarts !== undefined) {
      await record(uuid, { state: InstanceState.Stopped, failure: faults.failsStarts, stopReason: 0 })
    } else {
      await finishStart(uuid)
      if (faults.endsAtOnce) await record(uuid, { state: InstanceState.Stopped, stopReason: 3, exitCode: 0 })
    }
    return revision
  }

  async function finishStart(uuid: string): Promise<void> {
    const started = { startedAtMs: Date.now(), bootTimeUs: 12_345, vmmStartTimeUs: 1, netTimeUs: 20_000 }
    await record(uuid, { state: InstanceState.Running, ...started })
  }

  async function answer(uuid: string, act: () => Promise<number>): Promise<TransitionAnswer> {
    const { state: previousState } = await rowOf(uuid)
    const revision = await act()
    const { state } = await rowOf(uuid)
    return { previousState, state, revision }
  }

  return {
    faults,
    calls,
    finishStart,
    record,
    async ensureStarted({ instanceUuid, autostart }) {
      called('ensureStarted')
      if (autostart) await begin(instanceUuid)
    },
    async start({ instanceUuid: uuid }) {
      called('start')
      return answer(uuid, async () => {
        const row = await rowOf(uuid)
        const isDown = row.state === InstanceState.Stopped || row.state === InstanceState.Standby
        return isDown ? begin(uuid) : row.revision
      })
    },
    async stop({ instanceUuid: uuid }, { force }) {
      called(`stop ${force ? 'forced' : 'gracefully'}`)
      return answer(uuid, async () => {
        const row = await rowOf(uuid)
        if (row.state === InstanceState.Stopped) return row.revision
        return record(uuid, {
          state: InstanceState.Stopped,
          stoppedAtMs: Date.now(),
          stopReason: force ? 28 : 15,
        })
      })
    },
    async suspend({ instanceUuid: uuid }, { drainTimeoutMs }) {
      called(`suspend within ${drainTimeoutMs} ms`)
      return answer(uuid, async () => {
        const { state, boot, startCount, revision } = await rowOf(uuid)
        if (state !== InstanceState.Running) return revision
        if (faults.failsSuspends !== undefined)
          return record(uuid, { state, failure: faults.failsSuspends, suspended: false })
        return record(uuid, { state: InstanceState.Standby, suspended: true, boot, startCount })
      })
    },
    async move({ instanceUuid }, { from, to, volume }) {
      called(`move from ${from.nodeId} to ${to.nodeId}`)
      if (faults.refusesMoves !== undefined) throw new MoveRefused(faults.refusesMoves)
      return answer(instanceUuid, async () => {
        const over = { from, to, sinceMs: Date.now() }
        const revision = await record(instanceUuid, { move: { ...over, step: MoveStep.Fetch } })
        if (faults.holdsMoves === true) return revision
        const hosts = { from: from.nodeId, to: to.nodeId }
        const moved = { instanceUuid, ...hosts, ...(volume && { volumeUuid: volume.uuid }) }
        const outcome = faults.failsMoves === undefined ? await moveRow(database, moved) : undefined
        const failure = faults.failsMoves ?? (outcome?.ok === true ? outcome.value : outcome?.refusal.kind)
        await record(instanceUuid, failure === undefined ? {} : { move: { ...over, failure } })
        return revision
      })
    },
    async change({ instanceUuid: uuid, config }) {
      called('change')
      return answer(uuid, async () => record(uuid, { toldVersion: config?.version ?? 0 }))
    },
    async retire({ instanceUuid }, drainMs) {
      called(`retire within ${drainMs} ms`)
      await removeInstanceRow(database, instanceUuid)
    },
    async delete({ instanceUuid }) {
      called('delete')
      await removeInstanceRow(database, instanceUuid)
    },
    async hostGone() {
      called('hostGone')
    },
    async hostLost({ instanceUuid }, { loss, stays }) {
      called(`hostLost ${instanceUuid} ${loss}${stays ? ' stays' : ''}`)
    },
    async drainUntilMs() {
      called('drainUntilMs')
      return undefined
    },
    async refresh() {
      called('refresh')
    },
  }
}

export function resetFaults(control: FakeControl): void {
  for (const fault of Object.keys(control.faults)) delete control.faults[fault as keyof FakeControlFaults]
}

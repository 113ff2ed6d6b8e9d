import assert from 'node:assert/strict'
import { gatewaysToldMs } from '../../../src/domain/standby/lease-protocol.ts'
import { Machine } from './machine.ts'
import type { AgentOptions, LiveAgent } from './machine.ts'
import { Crash, CrashMoment } from './crash.ts'

/**
 * One timeline of what Temporal asks of the host. The first agent dies during it. The next agent is asked
 * for all of it again.
 */
export interface Timeline {
  /** Runs before the agent that dies, without faults. */
  readonly prepare?: (machine: Machine) => Promise<void>
  /** The options of every agent of the timeline. */
  readonly options?: AgentOptions
  readonly script: (live: LiveAgent, machine: Machine) => Promise<void>
  /** What the next agent is asked for. If absent, the same script again. */
  readonly next?: (live: LiveAgent, machine: Machine) => Promise<void>
  readonly check: (machine: Machine, last: LiveAgent) => void | Promise<void>
}

/** The bound of the loop over the calls. No timeline makes nearly as many. */
const callsMax = 200

/**
 * Kills the agent at each call of its ports, at each moment of that call. Returns the number of deaths.
 */
export async function dieEverywhere(timeline: Timeline): Promise<number> {
  let deaths = 0
  for (const moment of Object.values(CrashMoment)) {
    for (let at = 1; at < callsMax; at += 1) {
      const crash = new Crash(at, moment)
      const machine = await Machine.make()
      try {
        await timeline.prepare?.(machine)
        const first = machine.agent({ ...timeline.options, crash })
        const life = first.recovered().then(async () => {
          await timeline.script(first, machine)
        })
        await Promise.race([crash.happened, life])
        if (!crash.dead) break
        first.bury()
        await crash.written()
        deaths += 1
        const next = machine.agent(timeline.options ?? {})
        await next.recovered()
        // No gateway is lost with the first agent, so the next one need not wait for any.
        machine.nowMs += gatewaysToldMs
        await (timeline.next ?? timeline.script)(next, machine)
        await timeline.check(machine, next)
        next.kill()
        await next.written()
        assert.ok(machine.host.mostOfOneInstance <= 1, 'two VMs of one instance ran at once')
      } catch (error) {
        throw new Error(`death ${moment} call ${String(at)}: ${crash.calls.join(', ')}`, { cause: error })
      } finally {
        await machine.remove()
      }
    }
  }
  return deaths
}

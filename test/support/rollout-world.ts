import { randomUUID } from 'node:crypto'
import { createRolloutActivities } from '../../activities/rollout/look.ts'
import type { RolloutDeps } from '../../activities/rollout/rollout-deps.ts'
import type { CheckResult, InstanceCheck } from '../../src/domain/rollout/check.ts'
import { requestBoundsSeconds } from '../../src/domain/service/service-traffic.ts'
import type { ServiceTraffic } from '../../src/domain/service/service-traffic.ts'
import { createFakeControl } from './fake-control.ts'
import type { FakeControl } from './fake-control.ts'
import { rolloutRows } from './rollout-rows.ts'

/** What the fake hosts and gateways of a test say. */
export interface RolloutScript {
  /** What the host finds at the nth check. An error: the host does not answer. */
  check: (instance: { readonly uuid: string }, nth: number) => CheckResult | Error
  readonly checks: { readonly uuid: string; readonly asked: InstanceCheck }[]
  /** What the gateways have counted of the new version so far, by the gateway's name. */
  traffic: Record<string, ServiceTraffic>
  /** The names of the gateways' starts, where they are not the first. */
  runs: Record<string, string>
  /** Gateways that do not answer. */
  silent: string[]
}

/** What a gateway counted: all requests took up to the bound with this index. */
export function counted(requests: Partial<ServiceTraffic['requests']>, bound = 0): ServiceTraffic {
  const count = Object.values(requests).reduce((sum, one) => sum + one, 0)
  const counts = Array.from({ length: requestBoundsSeconds.length + 1 }, (_, index) =>
    index === bound ? count : 0,
  )
  return { requests, durations: { counts, seconds: 0 }, wakes: {} }
}

/**
 * Rollouts in rows, with the real activities. The workflows of instances, the hosts and the gateways are
 * fakes.
 */
export function rolloutWorld() {
  const rows = rolloutRows()
  const scene: { control?: FakeControl; script: RolloutScript } = { script: newScript() }
  beforeEach(() => {
    scene.control = createFakeControl(rows.database())
    scene.script = newScript()
  })

  const deps = (more: Partial<RolloutDeps> = {}): RolloutDeps => ({
    ...rows.deps(),
    instances: scene.control!,
    hosts: {
      async checkInstance({ uuid }, asked) {
        const { script } = scene
        script.checks.push({ uuid, asked })
        const result = script.check({ uuid }, script.checks.length)
        if (result instanceof Error) throw result
        return result
      },
    },
    gateways: {
      async readTraffic([uuid], onSilent) {
        const { traffic, silent } = scene.script
        for (const name of silent) onSilent(new Error(`${name} does not answer`))
        return Object.entries(traffic)
          .filter(([name]) => !silent.includes(name))
          .map(([gateway, one]) => {
            const run = scene.script.runs[gateway] ?? 'first'
            return { gateway, run, traffic: { [uuid ?? randomUUID()]: one } }
          })
      },
    },
    nowMs: Date.now,
    ...more,
  })
  const activities = (more: Partial<RolloutDeps> = {}) => createRolloutActivities(deps(more))
  const control = () => scene.control!
  return { ...rows, scene, control, activities, rolloutDeps: deps }
}

function newScript(): RolloutScript {
  return { check: () => ({ ok: true }), checks: [], traffic: {}, runs: {}, silent: [] }
}

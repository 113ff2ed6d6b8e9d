import assert from 'node:assert/strict'
import type { ApiClient, Answer } from '../support/api-client.ts'
import { isUnknown, runInstance, waitFor } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

/**
 * One round of faults: four instances, and one request of each kind in flight when the fault happens.
 * Whatever the fault, every instance has to reach the state that it was asked to reach, once.
 */
export interface Trial {
  /** Makes the requests. A request that the fault cuts off is made again, as a client would do. */
  ask(): Promise<void>
  /** Checks that every instance is in the state that it was asked to reach. */
  verify(): Promise<void>
}

const arriveLimitMs = 90_000
const repeatLimitMs = 60_000
const alreadyExistsCode = 23
const notFoundCode = 8

export async function prepareTrial(stack: Stack, name: string): Promise<Trial> {
  const { api } = stack
  const [toStart, toStop, toDelete] = await Promise.all([
    api.one('createInstances', { body: { name: `${name}-start`, image: 'busybox' } }),
    runInstance(api, { name: `${name}-stop`, image: 'busybox' }),
    runInstance(api, { name: `${name}-delete`, image: 'busybox' }),
  ])
  return {
    async ask() {
      await Promise.all([
        createOnce(api, `${name}-create`),
        repeated(() => api.attempt('startInstances', { object: toStart.uuid })),
        repeated(() => api.attempt('stopInstances', { object: toStop.uuid })),
        deleteOnce(api, toDelete.uuid),
      ])
    },
    async verify() {
      const uuids = [toStart.uuid, toStop.uuid, toDelete.uuid]
      for (const object of [`${name}-create`, toStart.uuid]) {
        const view = await waitFor(api, object, 'running', arriveLimitMs)
        assert.equal(view.start_count, 1, `${view.name} was started ${view.start_count} times`)
        assert.equal(view.restart_count, 0)
        const machines = virtualMachinesOf(view.uuid)
        assert.equal(machines.length, 1, `${view.name} has ${machines.length} VMs`)
        uuids.push(view.uuid)
      }
      const stopped = await waitFor(api, toStop.uuid, 'stopped', arriveLimitMs)
      assert.equal(stopped.start_count, 1)
      assert.equal(stopped.stop_reason, 15)
      assert.deepEqual(virtualMachinesOf(toStop.uuid), [])
      await until('the deleted one is gone', () => isUnknown(api, toDelete.uuid), { limitMs: arriveLimitMs })
      await until('its VM is gone', () => virtualMachinesOf(toDelete.uuid).length === 0, {
        limitMs: arriveLimitMs,
      })
      const left = [`${name}-create`, toStart.name, toStop.name].map((one) => ({ name: one }))
      await api.call('deleteInstances', { body: left })
      // Only the VMs of this round: what an earlier round left behind fails that round alone.
      const leftover = () => uuids.flatMap((uuid) => virtualMachinesOf(uuid))
      await until('all its VMs are gone', () => leftover().length === 0, { limitMs: arriveLimitMs })
    },
  }
}

/** Creates the instance once. The repeat of a create that got through is told that the name is taken. */
async function createOnce(api: ApiClient, name: string): Promise<void> {
  const body = { name, image: 'busybox', autostart: true }
  await repeated(() => api.attempt('createInstances', { body }), alreadyExistsCode)
  // The fault may come after the create was answered, so this read is repeated as well.
  await repeated(() => api.attempt('getInstances', { object: name }))
}

async function deleteOnce(api: ApiClient, uuid: string): Promise<void> {
  await repeated(() => api.attempt('deleteInstances', { object: uuid }), notFoundCode)
}

/**
 * Repeats the attempt until the answer is a success or `settledCode`. That code says that an earlier attempt
 * had got through.
 */
async function repeated(
  attempt: () => Promise<
    Answer<'createInstances' | 'getInstances' | 'startInstances' | 'stopInstances' | 'deleteInstances'>
  >,
  settledCode?: number,
): Promise<void> {
  await until(
    'the request is answered',
    async () => {
      const answer = await attempt().catch(() => undefined)
      if (answer === undefined) return false
      const [entry] = answer.entries
      const code = entry !== undefined && 'error' in entry ? entry.error : undefined
      return answer.status === 'success' || (code !== undefined && code === settledCode)
    },
    { limitMs: repeatLimitMs },
  )
}

import { strict as assert } from 'node:assert'
import type { AutoscaleControl } from '../../../src/control/autoscale-control.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'
import { createSweep } from '../../../src/control/sweep.ts'
import { sweptEntities } from '../../../src/control/swept-entity.ts'
import { closeClones } from '../../../src/db/autoscale/closing.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { autoscaleRows, testCooldownMs } from '../../support/autoscale-rows.ts'
import { createFakeCertificateControl } from '../../support/fake-certificate-control.ts'
import { createFakeControl } from '../../support/fake-control.ts'
import { createFakeRolloutControl } from '../../support/fake-rollout-control.ts'
import { createFakeScheduleControl } from '../../support/fake-schedule-control.ts'
import { createFakeVolumeControl } from '../../support/fake-volume-control.ts'

/** Longer than the longest wait between two sends of the same message. */
const longMs = 301_000

describe('what the sweep mends of autoscale', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, unconfigure, grown, marks, db } = rows
  let calls: string[]
  let isAway: boolean
  let nowMs: number
  let sweep: ReturnType<typeof createSweep>

  beforeEach(async () => {
    calls = []
    isAway = false
    nowMs = 0
    const called = async (what: string): Promise<void> => {
      if (isAway) throw new ControlUnavailable('nobody answers')
      calls.push(what)
    }
    const autoscales: Pick<AutoscaleControl, 'ensureStarted' | 'configured' | 'delete' | 'refresh'> = {
      ensureStarted: ({ serviceUuid }) => called(`start ${serviceUuid}`),
      configured: ({ serviceUuid, target }) => called(`configured ${serviceUuid} ${target ?? 'any'}`),
      delete: ({ serviceUuid }) => called(`delete ${serviceUuid}`),
      refresh: (serviceUuid) => called(`refresh ${serviceUuid}`),
    }
    const instances = {
      ...createFakeControl(rows.database()),
      ensureStarted: async () => undefined,
      retire: ({ name }: { readonly name: string }, drainMs: number, requestId: string) =>
        called(`retire ${name} ${drainMs} ${requestId}`),
    }
    const control = {
      instances,
      volumes: createFakeVolumeControl(rows.database()),
      certificates: createFakeCertificateControl(),
      autoscales: autoscales as AutoscaleControl,
      schedules: createFakeScheduleControl(),
      rollouts: createFakeRolloutControl(),
    }
    const entities = sweptEntities(rows.database(), control).filter(({ name }) =>
      ['retired clone', 'autoscale configuration'].includes(name),
    )
    // The times in a row are rounded, so a new row may seem to be from the future. It counts as old enough
    // too.
    sweep = createSweep({ entities, nowMs: () => nowMs, olderThanMs: -1_000 })
    await db().deleteFrom('autoscaleConfigurations').execute()
    await db().deleteFrom('instances').execute()
  })

  it('a configuration whose workflow was not started gets one, once', async () => {
    const service = await scaled(await newUser())
    isAway = true
    await sweep()
    isAway = false
    await sweep()
    await sweep()
    assert.deepEqual(calls, [`configured ${service.uuid} any`])
  })

  it('a configuration that is deleted is closed, again and again, until its row is gone', async () => {
    const service = await scaled(await newUser())
    await sweep()
    await unconfigure(service)
    for (let times = 0; times < 2; times++) {
      await sweep()
      await sweep()
      nowMs += longMs
    }
    assert.deepEqual(calls.slice(1), [`delete ${service.uuid}`, `delete ${service.uuid}`])
    await db().deleteFrom('autoscaleConfigurations').execute()
    await sweep()
    assert.equal(calls.length, 3)
  })

  it('clones that are given back are retired, under one id, until they are deleted', async () => {
    const service = await scaled(await newUser())
    await grown(service, 2)
    await sweep()
    await unconfigure(service)
    await closeClones(rows.database(), service.uuid)
    await db().deleteFrom('autoscaleConfigurations').execute()
    calls = []
    await sweep()
    await sweep()
    nowMs += longMs
    await sweep()
    const clones = (await marks(service)).filter(({ cloneOf }) => cloneOf !== null)
    const wanted = clones.map(({ name }) => `retire ${name} ${testCooldownMs} retired-by-sweep`)
    assert.equal(wanted.length, 2)
    assert.deepEqual(calls.toSorted(), [...wanted, ...wanted].toSorted())
    await markDeleted(rows.database(), service.master.userUuid, clones[0]!.uuid)
    nowMs += longMs
    await sweep()
    assert.deepEqual(calls.slice(4), [wanted[1]])
  })
})

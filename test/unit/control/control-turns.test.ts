import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { ControlBusy } from '../../../src/control/control-unavailable.ts'
import { createInstanceControl } from '../../../src/control/temporal-instance-control.ts'
import { instanceSettings } from '../../support/instance-settings.ts'

describe('starts and stops', () => {
  /** Temporal's client, as far as an update needs it: each waits until the test lets it end. */
  function open(turnLimitMs?: number) {
    const under: { readonly end: () => void }[] = []
    const executeUpdate = async () =>
      await new Promise<void>((resolve) => under.push({ end: () => resolve() }))
    const client = {
      withDeadline: async (_deadline: number, work: () => Promise<unknown>) => await work(),
      workflow: { getHandle: () => ({ executeUpdate }) },
    } as unknown as Client
    const control = createInstanceControl(client, turnLimitMs)
    const start = async (userUuid: string) =>
      await control.start(instanceSettings({ userUuid }), randomUUID())
    return { start, under }
  }
  const settled = async () => await new Promise((resolve) => setImmediate(resolve))

  it('of one user wait for each other, and those of another user do not wait for them', async () => {
    const { start, under } = open()
    const all = Array.from({ length: 10 }, async () => await start('ann'))
    await settled()
    assert.equal(under.length, 4)
    all.push(start('bob'))
    await settled()
    assert.equal(under.length, 5)
    for (let ended = 0; ended < 11; ended++) {
      under[ended]?.end()
      await settled()
    }
    await Promise.all(all)
    assert.equal(under.length, 11)
  })

  it('whose turn does not come in time are given up, and were not carried out', async () => {
    const { start, under } = open(20)
    const on = Array.from({ length: 4 }, async () => await start('ann'))
    await assert.rejects(start('ann'), ControlBusy)
    for (const one of under) one.end()
    await Promise.all(on)
    assert.equal(under.length, 4)
  })
})

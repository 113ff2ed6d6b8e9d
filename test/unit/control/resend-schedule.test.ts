import { strict as assert } from 'node:assert'
import { ResendSchedule } from '../../../src/control/resend-schedule.ts'

describe('what was sent and had no effect yet', () => {
  const self = (key: string): string => key

  it('is sent again after waits that double up to five minutes', () => {
    const schedule = new ResendSchedule()
    const sentAtS: number[] = []
    for (let atS = 0; atS < 1_200; atS++) {
      for (const key of schedule.due(['a'], self, atS * 1_000)) {
        schedule.sent(key, atS * 1_000)
        sentAtS.push(atS)
      }
    }
    assert.deepEqual(sentAtS, [0, 2, 6, 14, 30, 62, 126, 254, 510, 810, 1_110])
  })

  it('is due at once when it comes back after a while', () => {
    const schedule = new ResendSchedule()
    schedule.sent('a', 0)
    assert.deepEqual(schedule.due(['a', 'b'], self, 1_000), ['b'])
    schedule.due([], self, 1_100)
    assert.deepEqual(schedule.due(['a'], self, 1_200), ['a'])
  })
})

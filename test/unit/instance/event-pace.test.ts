import assert from 'node:assert/strict'
import type { HostEvent } from '../../../src/domain/instance/host-work.ts'
import { EventPace } from '../../../src/host/instance/event-pace.ts'

const sleepsPerMinute = 6

describe('how often instances may send events', () => {
  let nowMs: number
  let pace: EventPace
  beforeEach(() => {
    nowMs = 1_000_000
    pace = new EventPace({ sleepsPerMinute, nowMs: () => nowMs })
  })

  const instance = (instanceUuid: string, userUuid = 'somebody') => ({
    instanceUuid,
    record: { nic: { userUuid } },
  })
  const several = (count: number, userUuid = 'somebody') =>
    Array.from({ length: count }, (_, index) => instance(`${userUuid}-${index}`, userUuid))
  const idle = (epoch: number): HostEvent => ({ kind: 'idle', boot: 1, epoch, sinceMs: 0 })
  const disabled: HostEvent = { kind: 'disabled', boot: 1, disabled: true }

  it('a user may report the idle periods of a minute at once, and then one after the other', () => {
    const told = several(20).filter((each) => pace.mayTell(each, idle(1)))
    assert.equal(told.length, sleepsPerMinute)
    nowMs += 60_000 / sleepsPerMinute
    const later = several(20).filter((each) => pace.mayTell(each, idle(2)))
    assert.equal(later.length, 1)
  })

  it('a user who has used up a share leaves the shares of others whole', () => {
    for (const each of several(20)) pace.mayTell(each, idle(1))
    assert.ok(pace.mayTell(instance('other', 'another user'), idle(1)))
  })

  it('an idle period counts once, however often it is reported', () => {
    const one = instance('one')
    for (let told = 0; told < 2 * sleepsPerMinute; told += 1) {
      assert.ok(pace.mayTell(one, idle(1)), `${told} times before`)
      nowMs += 1_000
    }
    const told = several(20).filter((each) => pace.mayTell(each, idle(1)))
    assert.equal(told.length, sleepsPerMinute)
  })

  it('one instance may speak for or against standby eight times at once, then once a second', () => {
    const one = instance('one')
    const told = Array.from({ length: 50 }, () => pace.mayTell(one, disabled)).filter(Boolean)
    assert.equal(told.length, 8)
    nowMs += 1_000
    assert.deepEqual([pace.mayTell(one, disabled), pace.mayTell(one, disabled)], [true, false])
  })

  it('all instances of a user together may do so 32 times at once', () => {
    const told = several(50).flatMap((each) => [pace.mayTell(each, disabled), pace.mayTell(each, disabled)])
    assert.equal(told.filter(Boolean).length, 32)
    assert.ok(pace.mayTell(instance('other', 'another user'), disabled))
  })

  it('all other events are sent at once, however many they are', () => {
    for (const each of several(50)) pace.mayTell(each, idle(1))
    const waking: HostEvent = { kind: 'waking', boot: 2, atMs: 0 }
    const [first] = several(1)
    assert.ok(first !== undefined)
    const told = Array.from({ length: 100 }, () => pace.mayTell(first, waking))
    assert.ok(told.every(Boolean))
  })
})

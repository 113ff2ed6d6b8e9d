import { strict as assert } from 'node:assert'
import { parseCron } from '../../../src/domain/schedule/cron.ts'
import { isTimeZone, nextOccurrences } from '../../../src/domain/schedule/occurrences.ts'

function next(expression: string, after: string, { timeZone = 'UTC', count = 3 } = {}): readonly string[] {
  const read = parseCron(expression)
  assert.ok(read.ok, read.ok ? '' : read.reason)
  const times = nextOccurrences(read.cron, { timeZone, afterMs: Date.parse(after), count })
  return times.map((time) => new Date(time).toISOString().replace(':00.000Z', ''))
}

describe('a cron expression', () => {
  for (const [expression, after, expected] of [
    ['* * * * *', '2026-11-27T10:00:30Z', ['2026-11-27T10:01', '2026-11-27T10:02', '2026-11-27T10:03']],
    ['0 3 * * *', '2026-11-27T03:00:00Z', ['2026-11-28T03:00', '2026-11-29T03:00', '2026-11-30T03:00']],
    [
      '*/20 9-10 * * 1-5',
      '2026-11-27T10:20:00Z',
      ['2026-11-27T10:40', '2026-11-30T09:00', '2026-11-30T09:20'],
    ],
    ['5/20 0 * * *', '2026-11-27T00:00:00Z', ['2026-11-27T00:05', '2026-11-27T00:25', '2026-11-27T00:45']],
    ['0 0 1 jan,JUL *', '2026-11-27T00:00:00Z', ['2027-01-01T00:00', '2027-07-01T00:00', '2028-01-01T00:00']],
    ['0 0 * * 7', '2026-11-27T00:00:00Z', ['2026-11-29T00:00', '2026-12-06T00:00', '2026-12-13T00:00']],
    ['0 0 * * sun', '2026-11-27T00:00:00Z', ['2026-11-29T00:00', '2026-12-06T00:00', '2026-12-13T00:00']],
    ['0 0 29 2 *', '2097-01-01T00:00:00Z', ['2104-02-29T00:00', '2108-02-29T00:00']],
    ['@daily', '2026-11-27T12:00:00Z', ['2026-11-28T00:00', '2026-11-29T00:00', '2026-11-30T00:00']],
    ['@HOURLY', '2026-11-27T12:00:00Z', ['2026-11-27T13:00', '2026-11-27T14:00', '2026-11-27T15:00']],
  ] as const) {
    it(`'${expression}' means ${expected[0]} and so on`, () => {
      assert.deepEqual(next(expression, after).slice(0, expected.length), expected)
    })
  }

  it('with both kinds of days fits the days of either', () => {
    assert.deepEqual(next('0 0 13 * fri', '2026-11-27T01:00:00Z', { count: 4 }), [
      '2026-12-04T00:00',
      '2026-12-11T00:00',
      '2026-12-13T00:00',
      '2026-12-18T00:00',
    ])
  })

  it('leaves out a time that the change to summer time leaves out', () => {
    const berlin = { timeZone: 'Europe/Berlin', count: 2 }
    assert.deepEqual(next('30 2 * * *', '2026-03-28T12:00:00Z', berlin), [
      '2026-03-30T00:30',
      '2026-03-31T00:30',
    ])
  })

  it('has a time once that the change back repeats', () => {
    const berlin = { timeZone: 'Europe/Berlin', count: 2 }
    assert.deepEqual(next('30 2 * * *', '2026-10-24T12:00:00Z', berlin), [
      '2026-10-25T01:30',
      '2026-10-26T01:30',
    ])
    const newYork = { timeZone: 'America/New_York', count: 2 }
    assert.deepEqual(next('30 1 * * *', '2026-10-31T12:00:00Z', newYork), [
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ])
  })

  it('counts the days of its own time zone', () => {
    const auckland = { timeZone: 'Pacific/Auckland', count: 1 }
    assert.deepEqual(next('0 8 28 11 *', '2026-11-27T00:00:00Z', auckland), ['2026-11-27T19:00'])
  })

  for (const [expression, reason] of [
    ['', /expected 5 fields .* but there are 0/],
    ['* * * *', /expected 5 fields .* but there are 4/],
    ['0 0 * * * *', /but there are 6/],
    ['60 * * * *', /'60' is not valid for the field 'minute': expected \*, numbers from 0 to 59/],
    ['* 24 * * *', /field 'hour'/],
    ['* * 0 * *', /field 'day of the month'/],
    ['* * * foo *', /field 'month': .* names from jan to dec/],
    ['* * * * 8', /field 'day of the week'/],
    ['5-1 * * * *', /'5-1' of the field 'minute' ends before it begins/],
    ['*/0 * * * *', /needs one step of at least 1/],
    ['*/5/5 * * * *', /needs one step/],
    ['1-2-3 * * * *', /'1-2-3' is not valid/],
    ['1, * * * *', /'' is not valid for the field 'minute'/],
    ['-1 * * * *', /'-1' is not valid/],
    ['0 0 31 2,4 *', /none of its months has such a day/],
    ['@reboot', /'@reboot' is not one of @yearly/],
  ] as const) {
    it(`'${expression}' is refused, and the reason says why`, () => {
      const read = parseCron(expression)
      assert.ok(!read.ok)
      assert.match(read.reason, reason)
    })
  }

  it('can not occur on a day that no chosen month has, but may by its day of the week', () => {
    assert.ok(parseCron('0 0 31 2 1').ok)
  })
})

describe('a time zone', () => {
  it('is a name of the database', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia'])
      assert.ok(isTimeZone(name), name)
    for (const name of ['', 'Mars/Olympus', '+01:00', 'Europe/Berlin; drop', '\0'])
      assert.ok(!isTimeZone(name), name)
  })
})

import assert from 'node:assert/strict'
import { eventText, readable } from '../../console/event/event-text.ts'

/** Noon of the 15th in the time zone of this machine. */
function noonOf(year: number, month: number): string {
  return new Date(year, month - 1, 15, 12).toISOString()
}

describe('the texts of the console', () => {
  it('say the year of a time if it is not this one', () => {
    const next = new Date().getFullYear() + 1
    const text = readable(`valid until ${noonOf(next, 6)}`)
    assert.match(text, new RegExp(`^valid until .*\\b${next}\\b.*12:00:00$`))
  })

  it('say the day of a time of this year, but not the year', () => {
    const present = new Date()
    const text = readable(`since ${noonOf(present.getFullYear(), present.getMonth() === 5 ? 3 : 6)}`)
    assert.match(text, /^since .*\b15\b.*12:00:00$/)
    assert.doesNotMatch(text, new RegExp(String(present.getFullYear())))
  })

  it('say what happened to a host', () => {
    const said = (kind: 'host.state' | 'host.use', to: string) => {
      const { what, mood } = eventText({
        id: 1,
        at: noonOf(2026, 1),
        kind,
        to,
        object: { type: 'host', name: 'h2' },
        why: '',
        by: { kind: 'platform' },
      })
      return `${what} (${mood})`
    }
    assert.deepEqual(
      [
        said('host.state', 'lost'),
        said('host.state', 'live'),
        said('host.use', 'cordoned'),
        said('host.use', 'draining'),
        said('host.use', 'open'),
        said('host.use', 'of a later version'),
      ],
      [
        'is lost (fails)',
        'is heard again (runs)',
        'is cordoned (rests)',
        'is being emptied (moves)',
        'is not cordoned any more (runs)',
        'changed (moves)',
      ],
    )
  })

  it('say of an identifier only the beginning', () => {
    assert.equal(readable('in 0c5e2d9e-3f3a-4c53-9d8e-6a4c1b7f2d10'), 'in 0c5e2d9e')
  })
})

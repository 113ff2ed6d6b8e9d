import assert from 'node:assert/strict'
import {
  UpgradeState,
  maxUpgradeWhyLength,
  readHostUpgrade,
  upgradeFailureText,
  upgradeNews,
  upgradeStates,
  upgradeUnderWayText,
} from '../../../src/domain/host/upgrade.ts'
import type { HostUpgrade } from '../../../src/domain/host/upgrade.ts'

const underWay: HostUpgrade = {
  state: UpgradeState.Exchanging,
  from: '0.1.0',
  to: '0.1.1',
  beganAtMs: Date.parse('2026-01-02T03:04:05Z'),
  progress: { part: 'worker', exchanged: 3, parts: 7 },
}
const over = (state: UpgradeState, more: Partial<HostUpgrade> = {}): HostUpgrade => {
  const { progress: _, ...rest } = underWay
  return { ...rest, state, endedAtMs: Date.parse('2026-01-02T03:05:00Z'), ...more }
}

describe('what a host tells of an upgrade', () => {
  it('is read as it was written, without what a later version added', () => {
    assert.deepEqual(readHostUpgrade({ ...underWay, later: 1 }), underWay)
    const ended = over(UpgradeState.WentBack, { why: 'worker was not ready' })
    assert.deepEqual(readHostUpgrade(JSON.parse(JSON.stringify(ended))), ended)
  })

  it('is left out if it is not understood', () => {
    const wrong = [
      undefined,
      'exchanging',
      [],
      { ...underWay, state: 'a state of a later version' },
      { ...underWay, to: 7 },
      { ...underWay, beganAtMs: '2026' },
      { ...underWay, beganAtMs: -1 },
      { ...underWay, beganAtMs: 9e14 },
    ]
    for (const told of wrong) assert.equal(readHostUpgrade(told), undefined, JSON.stringify(told))
  })

  it('is shortened, and has no control characters', () => {
    const told = {
      ...underWay,
      to: '\u0000'.repeat(999),
      why: `a\n${'x'.repeat(9_999)}`,
      progress: { part: 'p'.repeat(999), exchanged: 1e9, parts: 2 },
    }
    const read = readHostUpgrade(told)!
    assert.equal(read.to.length, 128)
    assert.match(read.to, /^(\\u0000)+/)
    assert.equal(read.why?.length, maxUpgradeWhyLength)
    assert.match(read.why, /^a\\u000ax+$/)
    assert.equal(read.progress, undefined)
  })

  it('is told in words while it is under way', () => {
    assert.equal(
      upgradeUnderWayText(underWay),
      'Roost 0.1.1 takes over from 0.1.0: 3 of 7 parts are of 0.1.1, and worker is being exchanged',
    )
    assert.equal(
      upgradeUnderWayText({ ...underWay, state: UpgradeState.GoingBack, why: 'worker ended' }),
      'the upgrade to Roost 0.1.1 goes back, because worker ended: 3 of 7 parts are of 0.1.1 still, and worker is being exchanged',
    )
    assert.equal(
      upgradeUnderWayText({ state: UpgradeState.Exchanging, to: '2', beganAtMs: 0 }),
      'Roost 2 takes over',
    )
  })

  it('is a failure if it went back or was cut off, until the host has that version', () => {
    const back = over(UpgradeState.WentBack, { why: 'worker ended' })
    assert.equal(
      upgradeFailureText(back, '0.1.0'),
      'the upgrade to Roost 0.1.1 went back at 2026-01-02T03:05:00.000Z, because worker ended',
    )
    assert.equal(upgradeFailureText(back, '0.1.1'), undefined)
    assert.match(
      upgradeFailureText(over(UpgradeState.CutOff), '0.1.0') ?? '',
      /^the platform ended at 2026-01-02T03:05:00\.000Z in the middle of the upgrade to Roost 0\.1\.1$/,
    )
    assert.equal(upgradeFailureText(over(UpgradeState.Done), '0.1.0'), undefined)
    assert.equal(upgradeFailureText(underWay, '0.1.0'), undefined)
  })

  it('is still a failure if both versions have the same number', () => {
    const back = over(UpgradeState.WentBack, { from: '0.1.1', why: 'worker ended' })
    assert.match(upgradeFailureText(back, '0.1.1') ?? '', /went back/)
  })
})

describe('the news of an upgrade', () => {
  it('are its begin and each new state, and not each part', () => {
    assert.deepEqual(upgradeNews('h2', undefined, underWay), {
      kind: 'host.upgrade',
      to: 'exchanging',
      why: 'Roost 0.1.1 takes over from Roost 0.1.0',
      asker: { by: 'host', name: 'h2' },
      facts: { version: '0.1.1', version_before: '0.1.0' },
    })
    const further = { ...underWay, progress: { part: 'agent', exchanged: 4, parts: 7 } }
    assert.equal(upgradeNews('h2', underWay, further), undefined)
    for (const before of upgradeStates)
      for (const now of upgradeStates) {
        const news = upgradeNews('h2', over(before), over(now))
        if (before === now) assert.equal(news, undefined)
        else assert.partialDeepStrictEqual(news, { from: before, to: now })
      }
  })

  it('say of another upgrade no state before', () => {
    const next = { ...underWay, beganAtMs: underWay.beganAtMs + 60_000 }
    const news = upgradeNews('h2', over(UpgradeState.WentBack), next)
    assert.equal(news?.to, 'exchanging')
    assert.equal(news.from, undefined)
  })

  it('say why it went back', () => {
    const why = 'worker ended with code 1 before it was ready'
    assert.equal(upgradeNews('h2', underWay, over(UpgradeState.WentBack, { why }))?.why, why)
  })
})

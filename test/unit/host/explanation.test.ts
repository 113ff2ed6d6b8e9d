import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { HostState, explainHost, hostState } from '../../../src/domain/host/explanation.ts'
import type { ExplainedHost } from '../../../src/domain/host/explanation.ts'
import { UpgradeState } from '../../../src/domain/host/upgrade.ts'
import { roostVersion } from '../../../src/domain/roost-version.ts'

const packageJson = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

const host: ExplainedHost = {
  id: 'attic',
  state: HostState.Live,
  heartbeatAtMs: Date.parse('2026-01-02T03:04:05Z'),
  version: roostVersion,
  instances: { running: 2, standby: 1 },
  labels: {},
  roles: [],
  memoryMb: 1_000,
  usedMemoryMb: 384,
  promisedMemoryMb: 600,
  volumeMb: 500,
  promisedMb: 100,
}

describe('the explanation of a host', () => {
  it('says what it has, what is taken, and that more fits', () => {
    assert.deepEqual(explainHost(host), {
      now: 'attic is live: 2 instances run, 1 sleeps; 384 of 1000 MiB of memory and 100 of 500 MiB for volumes are taken.',
      next: 'further instances are placed and started there as long as they fit: 616 MiB of memory are left',
    })
  })

  it('has the labels of the host behind its name', () => {
    const { now } = explainHost({ ...host, labels: { disk: 'nvme', spare: '' } })
    assert.match(now, /^attic \(disk=nvme, spare=\) is live: /)
  })

  it('says what its machine does besides', () => {
    const { now } = explainHost({ ...host, roles: ['gateway'] })
    assert.match(now, /^attic is live, has the role gateway: 2 instances run, /)
  })

  it('says which version of Roost it runs if the API runs another one', () => {
    const { now } = explainHost({ ...host, version: '0.0.9\n' })
    assert.ok(
      now.startsWith(`attic is live, runs Roost 0.0.9\\u000a while the API runs ${roostVersion}: 2 `),
      now,
    )
    assert.equal(roostVersion, packageJson.version)
  })

  it('says how far an upgrade is that is under way, also of a host that went silent in it', () => {
    const upgrade = {
      state: UpgradeState.Exchanging,
      from: '0.0.9',
      to: '0.1.0',
      beganAtMs: 0,
      progress: { part: 'api', exchanged: 3, parts: 7 },
    }
    const text = 'Roost 0.1.0 takes over from 0.0.9: 3 of 7 parts are of 0.1.0, and api is being exchanged'
    assert.ok(explainHost({ ...host, upgrade }).next.startsWith(`${text}; further instances are placed`))
    const silent = explainHost({ ...host, upgrade, state: HostState.Silent })
    assert.ok(
      silent.now.startsWith(`attic has been silent since 2026-01-02T03:04:05.000Z, while ${text}, and`),
    )
    assert.equal(silent.failure, undefined)
  })

  it('says that the last upgrade failed, and why', () => {
    const upgrade = { state: UpgradeState.WentBack, to: '9.9.9', beganAtMs: 0, why: 'worker ended' }
    const { next, failure } = explainHost({ ...host, upgrade })
    assert.equal(failure, 'the upgrade to Roost 9.9.9 went back, because worker ended')
    assert.match(next, /^further instances are placed/)
    assert.equal(explainHost({ ...host, upgrade: { ...upgrade, state: 'done' } }).failure, undefined)
  })

  it('says that not even the smallest instance starts if less memory than that is left', () => {
    const next = (usedMemoryMb: number) => explainHost({ ...host, usedMemoryMb }).next
    assert.match(next(840), /^further instances .*: 160 MiB of memory are left$/)
    assert.match(next(841), /^no further instance starts there .* needs 160 MiB, and 159 MiB are left$/)
    assert.match(next(1_200), /and 0 MiB are left$/)
  })

  it('warns if the sleeping instances can not all wake at once', () => {
    const next = (more: Partial<ExplainedHost>) => explainHost({ ...host, ...more }).next
    assert.match(next({ promisedMemoryMb: 1_300 }), /; if all that sleep wake at once, 300 MiB are missing/)
    assert.doesNotMatch(next({ promisedMemoryMb: 1_000 }), /missing/)
    assert.doesNotMatch(next({ promisedMemoryMb: 1_300, instances: { running: 3 } }), /missing/)
  })

  it('says since when a silent host was not heard, and that what is told was recorded before', () => {
    const { now, next } = explainHost({ ...host, state: HostState.Silent })
    assert.match(
      now,
      /^attic has been silent since 2026-01-02T03:04:05\.000Z, and this is what was recorded: 2 /,
    )
    assert.match(
      next,
      /wait until it is heard again; .*`roost admin node release attic`.*`roost admin node remove attic`/,
    )
  })

  it('says of a released host who takes its instances over', () => {
    const next = (instances: ExplainedHost['instances']) =>
      explainHost({ ...host, state: HostState.Released, instances }).next
    assert.match(next({ running: 2, stopped: 1 }), /under the id attic takes over its 3 instances$/)
    assert.match(next({ stopped: 1 }), /its 1 instance$/)
  })

  it('says since when nothing new is placed on a cordoned host, what goes on, and how to take it back', () => {
    const cordonedAtMs = Date.parse('2026-01-02T03:00:00Z')
    const next = (more: Partial<ExplainedHost> = {}) => explainHost({ ...host, cordonedAtMs, ...more }).next
    assert.equal(
      next(),
      'no new instances are placed here, because an administrator cordoned it at 2026-01-02T03:00:00.000Z; ' +
        '3 instances go on, and `roost host uncordon attic` permits new ones again',
    )
    assert.match(next({ instances: { running: 1 } }), /; 1 instance goes on, and /)
    assert.match(next({ instances: {} }), /; it has none, and /)
    assert.match(next({ promisedMemoryMb: 1_300 }), /; if all that sleep wake at once, 300 MiB are missing/)
    assert.doesNotMatch(next({ usedMemoryMb: 900 }), /MiB are left/)
    for (const state of [HostState.Silent, HostState.Released]) {
      assert.match(
        explainHost({ ...host, state, cordonedAtMs }).now,
        / \(cordoned at 2026-01-02T03:00:00\.000Z, and it stays so\)/,
      )
    }
  })

  it('says that a host has no instance', () => {
    assert.match(explainHost({ ...host, instances: {} }).now, /^attic is live: no instance is there; /)
  })

  it('calls a host released whether or not its heartbeats still count', () => {
    const lostAt = null
    assert.equal(hostState({ live: true, released: true, lostAt }), HostState.Released)
    assert.equal(hostState({ live: false, released: true, lostAt }), HostState.Released)
    assert.equal(hostState({ live: true, released: false, lostAt }), HostState.Live)
    assert.equal(hostState({ live: false, released: false, lostAt }), HostState.Silent)
  })

  it('calls a host lost before anything else', () => {
    for (const live of [true, false])
      for (const released of [true, false])
        assert.equal(hostState({ live, released, lostAt: new Date(0) }), HostState.Lost)
  })

  it('says of a silent host with a term when it counts as lost', () => {
    const silent = { ...host, state: HostState.Silent, heartbeatAtMs: Date.parse('2026-01-02T03:04:05Z') }
    assert.match(
      explainHost({ ...silent, termMs: 60_000 }).next,
      /; it counts as lost at about 2026-01-02T03:05:09\.000Z unless it is heard, and its instances without volumes begin on other hosts then; if it never/,
    )
    assert.doesNotMatch(explainHost(silent).next, /lost/)
  })

  it('says of a lost host what begins elsewhere, what waits and what ends it', () => {
    const lost = {
      ...host,
      state: HostState.Lost,
      heartbeatAtMs: Date.parse('2026-01-02T03:04:05Z'),
      lostAtMs: Date.parse('2026-01-02T03:05:09Z'),
      instances: { running: 3 },
    }
    const { now, next } = explainHost({ ...lost, withVolume: 1 })
    assert.match(
      now,
      /^attic has been lost since 2026-01-02T03:05:09\.000Z and was last heard at 2026-01-02T03:04:05/,
    )
    assert.equal(
      next,
      'nothing new is placed there, 2 instances begin on other hosts as soon as they have room, 1 instance with a volume waits ' +
        'for it; once it is heard again, it clears up and is live; if it never comes back, `roost host remove --lost attic` gives it up',
    )
    assert.equal(
      explainHost({ ...lost, withVolume: 3, isRemoved: true }).next,
      'nothing new is placed there, 3 instances with volumes can only be deleted; it was removed and does not come back: it is ' +
        'forgotten once nothing is on it',
    )
  })
})

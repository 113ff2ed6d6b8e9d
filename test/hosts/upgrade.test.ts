import assert from 'node:assert/strict'
import path from 'node:path'
import process from 'node:process'
import { always, autoscale, publishMaster, untilSize } from '../support/autoscaled-service.ts'
import { onFailure } from '../support/failure-notes.ts'
import { hostNames, openHostPair } from '../support/host-pair.ts'
import type { HostPair } from '../support/host-pair.ts'
import { viewOf } from '../support/instances.ts'
import { LaneTraffic, assertNoneLost } from '../support/lane-traffic.ts'
import { makeNextVersion, upgradeLimitMs, upgradeTo } from '../support/next-version.ts'
import type { NextVersion } from '../support/next-version.ts'
import { virtualMachinesByInstance } from '../support/processes.ts'
import { publish } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
/** Twenty requests in a second, of which few go to the one that sleeps in between. */
const perSecond = { awake: 10, scaled: 9.6, sleeper: 0.4 }
const scaledSize = 2
const maxShown = 8_000

describe('an upgrade', function () {
  this.timeout(2 * upgradeLimitMs)
  let pair: HostPair
  let awake: Published
  let sleeper: Published
  let scaled: Awaited<ReturnType<typeof publishMaster>>
  const versions: NextVersion[] = []

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    pair = await openHostPair()
    const { stack } = pair
    awake = await publish(stack, 'awake')
    sleeper = await publish(stack, 'sleeper', {
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    scaled = await publishMaster(stack, 'scaled')
    await autoscale(stack, scaled, {
      min_size: 1,
      max_size: scaledSize,
      warmup_time_ms: 1_000,
      cooldown_time_ms: 1_000,
      policies: [always(scaledSize)],
    })
    await untilSize(stack, scaled, scaledSize)
  })
  after(async () => {
    await pair?.remove()
    for (const version of versions) version.remove()
  })
  onFailure(() =>
    pair === undefined
      ? ''
      : [pair.stack, pair.machines.h2, pair.machines.h3]
          .map((part) => `--- said last:\n${part.output().slice(-maxShown)}\n`)
          .join(''),
  )

  function next(version: string): NextVersion {
    const made = makeNextVersion(version)
    versions.push(made)
    return made
  }

  const upgradeOf = async (host: string) => (await pair.stack.api.one('getHosts', { object: host })).upgrade
  /** The states of the upgrades to a version that the events of the administrator tell of a host. */
  const toldOf = async (host: string, { version }: NextVersion) => {
    const events = await pair.stack.api.call('listEvents', { query: { kind: 'host.upgrade', object: host } })
    return events.filter(({ facts }) => facts?.['version'] === version).map(({ to }) => to)
  }
  /** Upgrades a host's machine, and waits until the API has told how far that is. */
  async function upgradeTold(version: NextVersion, host: string, dataDir: string) {
    // The API is itself exchanged on the first machine.
    const isTold = async () => {
      const told = await upgradeOf(host).catch(() => undefined)
      return told?.to === version.version && told.state === 'exchanging' && told.progress !== undefined
    }
    const [outcome] = await Promise.all([
      upgradeTo(version, dataDir),
      until(`the API tells the upgrade of ${host}`, isTold, { limitMs: upgradeLimitMs }),
    ])
    return outcome
  }

  const hosts = ['local', ...hostNames]
  const dataDirs = () => [pair.stack, pair.machines.h2, pair.machines.h3].map(({ dataDir }) => dataDir)
  /** The VM processes of the instances that do not sleep. */
  const vmProcesses = () =>
    dataDirs().flatMap((dataDir) =>
      [...virtualMachinesByInstance(dataDir)].filter(([uuid]) => uuid !== sleeper.uuid),
    )
  const boots = async () => (await viewOf(pair.stack.api, awake.uuid)).start_count

  /** Sends requests to all three services while something is done, and verifies that none was lost. */
  async function under(what: string, work: () => Promise<void>): Promise<void> {
    const before = { vms: vmProcesses(), boots: await boots() }
    const { names } = pair
    const traffic = [
      new LaneTraffic(names, { ...awake, path: '/count' }, perSecond.awake),
      new LaneTraffic(names, { ...scaled, name: 'scaled' }, perSecond.scaled),
      new LaneTraffic(names, { ...sleeper, path: '/count' }, perSecond.sleeper),
    ]
    try {
      await work()
      for (const lane of traffic) await lane.next(2)
    } finally {
      await Promise.all(traffic.map(async (lane) => await lane.end()))
    }
    assertNoneLost(traffic, what)
    const counts = [traffic[0]!, traffic[2]!].map(({ answers }) => answers.map(Number))
    for (const numbers of counts)
      assert.equal(new Set(numbers).size, numbers.length, 'the memory counted every request once')
    assert.deepEqual(vmProcesses(), before.vms, 'no VM was begun anew')
    assert.equal(await boots(), before.boots)
    const waits = traffic.flatMap(({ waitsMs }) => waitsMs).toSorted((a, b) => a - b)
    const [half, most] = [0.5, 0.99].map((share) => Math.round(waits[Math.floor(waits.length * share)] ?? 0))
    console.log(`      ${waits.length} requests ${what}: p50 ${half} ms, p99 ${most} ms`)
  }

  it('of all parts and of each host loses no request and boots no VM anew', async () => {
    const version = next('0.1.1')
    await under('while all was upgraded', async () => {
      for (const [index, dataDir] of dataDirs().entries()) {
        const { code, text } = await upgradeTold(version, hosts[index]!, dataDir)
        assert.equal(code, 0, text)
        assert.match(text, /is of version 0\.1\.1 now/)
      }
    })
    const seen = async () => (await pair.roost.run(['host', 'list'])).out
    const isNew = (out: string) => hosts.every((name) => new RegExp(`^${name} .*0\\.1\\.1`, 'm').test(out))
    await until('every host tells its version', async () => isNew(await seen()), { limitMs })
    for (const host of hosts) {
      const isDone = async () => (await upgradeOf(host))?.state === 'done'
      await until(`${host} tells that its upgrade is done`, isDone, { limitMs })
      assert.deepEqual(await toldOf(host, version), ['done', 'exchanging'])
    }
  })

  it('goes back if a part does not start, and says which, and why; the database may be of the later version', async () => {
    const version = next('0.1.2')
    version.addMigration('alter table nodes add more text null')
    version.change('src/bin/worker.ts', 'import ', "throw new Error('a mistake of 0.1.2')\nimport ")
    await under('while an upgrade went back', async () => {
      const { code, text } = await upgradeTold(version, 'local', pair.stack.dataDir)
      assert.equal(code, 1, text)
      assert.match(text, /worker ended with code 1 before it was ready/)
      assert.match(text, /a mistake of 0\.1\.2/)
      assert.match(text, /the version before runs as it did/)
    })
    assert.match((await pair.roost.run(['host', 'list', 'local'])).out, /0\.1\.1/)
    const isBack = async () => (await upgradeOf('local'))?.state === 'went-back'
    await until('the host tells that its upgrade went back', isBack, { limitMs })
    const { failure = '' } = await pair.stack.api.one('explainHosts', { object: 'local' })
    assert.match(
      failure,
      /^the upgrade to Roost 0\.1\.2 went back at .*, because worker ended with code 1 before/,
    )
    assert.doesNotMatch(failure, /a mistake/)
    const told = await toldOf('local', version)
    assert.deepEqual([told.at(0), told.at(-1)], ['went-back', 'exchanging'])
    await pair.stack.killPart('api')
  })

  it('is refused with a sentence where there is no next version', async () => {
    const [first = ''] = dataDirs()
    const { code, text } = await upgradeTo(versions[0]!, first)
    assert.equal(code, 1)
    assert.match(text, /has run code of .* already/)
    const nobody = await upgradeTo(versions[0]!, path.join(first, 'nothing'))
    assert.equal(nobody.code, 1)
    assert.match(nobody.text, /no platform that can be taken over runs in/)
  })
})

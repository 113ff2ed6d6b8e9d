import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  HostServiceFailure,
  installHostService,
  moveHostService,
  requireSystemd,
  unitText,
} from '../../../src/launch/host/host-service.ts'
import type { SystemdPlaces } from '../../../src/launch/host/host-service.ts'

/** Stands in for systemd: it notes what it was asked, and fails if a file says so. */
const recorder = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> asked
if [ -e broken ]; then echo "Unit is masked." >&2; exit 1; fi
`

describe('the service of a host', () => {
  let directory: string
  let places: SystemdPlaces
  const usualPath = process.env['PATH']
  const file = (...names: readonly string[]): string => path.join(directory, ...names)
  const read = (...names: readonly string[]): string => readFileSync(file(...names), 'utf8')

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-service-'))
    places = { running: file('running'), units: file('units') }
    for (const name of ['running', 'bin', 'data']) mkdirSync(file(name))
    writeFileSync(file('bin', 'systemctl'), recorder)
    chmodSync(file('bin', 'systemctl'), 0o755)
    process.env['PATH'] = `${file('bin')}:${usualPath}`
  })
  afterEach(() => {
    process.env['PATH'] = usualPath
    rmSync(directory, { recursive: true })
  })

  const install = async (env: Readonly<Record<string, string>> = {}): Promise<void> =>
    await installHostService(
      {
        checkout: '/srv/roost',
        dataDir: file('data'),
        node: '/srv/roost/node',
        settings: new Map(Object.entries(env)),
      },
      places,
    )

  it('is written, enabled and started, and keeps the settings where only root reads them', async () => {
    await install({ ROOST_AGENT_PORT: '7171', ROOST_METRO_DOMAIN: 'a"b$c' })
    assert.equal(
      read('bin', 'asked'),
      'daemon-reload\nenable roost-host.service\nrestart roost-host.service\n',
    )
    const settings = read('data', 'host.env')
    assert.match(settings, /^ROOST_AGENT_PORT="7171"$/m)
    assert.ok(settings.includes(String.raw`ROOST_METRO_DOMAIN="a\"b\$c"`), settings)
    assert.equal(statSync(file('data', 'host.env')).mode & 0o777, 0o600)
    const unit = read('units', 'roost-host.service')
    assert.match(unit, /^ExecStart="\/srv\/roost\/node" "\/srv\/roost\/src\/bin\/roost\.ts" join$/m)
    assert.ok(unit.includes(`EnvironmentFile=${file('data', 'host.env')}\n`))
  })

  it('ends VMs when it stops, and leaves them running when it restarts', async () => {
    await install()
    const unit = read('units', 'roost-host.service').split('\n')
    for (const line of ['KillMode=process', 'KillSignal=SIGTERM', 'RestartKillSignal=SIGUSR2'])
      assert.ok(unit.includes(line), line)
  })

  it('starts the version that took over from now on, and is not restarted for that', async () => {
    await install({ ROOST_AGENT_PORT: '7171' })
    const before = [read('units', 'roost-host.service'), read('data', 'host.env')] as const
    rmSync(file('bin', 'asked'))
    await moveHostService({ dataDir: file('data'), checkout: '/srv/next', node: '/srv/next/node' }, places)
    assert.equal(read('bin', 'asked'), 'daemon-reload\n')
    assert.equal(read('units', 'roost-host.service'), before[0].replaceAll('/srv/roost', '/srv/next'))
    assert.equal(read('data', 'host.env'), before[1])
  })

  it('is left alone if it is that of another directory, or of none', async () => {
    const version = { dataDir: file('other'), checkout: '/srv/next', node: '/srv/next/node' }
    await moveHostService(version, places)
    await install()
    const before = read('units', 'roost-host.service')
    await moveHostService(version, places)
    assert.equal(read('units', 'roost-host.service'), before)
  })

  it('is a unit that systemd takes', function () {
    const { stdout, error } = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' })
    if (error !== undefined || !stdout.startsWith('systemd ')) return this.skip()
    const service = { checkout: directory, node: process.execPath }
    writeFileSync(file('roost-host.service'), unitText(service, file('host.env')))
    const checked = spawnSync('systemd-analyze', ['verify', file('roost-host.service')], { encoding: 'utf8' })
    const complaints = checked.stderr.split('\n').filter((line) => line.includes('roost-host.service'))
    assert.deepEqual(complaints, [])
  })

  it('is refused in one sentence where systemd does not run, or does not take it', async () => {
    const absent = { ...places, running: file('absent') }
    assert.throws(
      () => requireSystemd(absent),
      /^HostServiceFailure: --service needs systemd, .*leave the option out/,
    )
    writeFileSync(file('bin', 'broken'), '')
    await assert.rejects(
      install(),
      (error) =>
        error instanceof HostServiceFailure &&
        error.message.startsWith('systemctl daemon-reload failed (Unit is masked.): '),
    )
    await assert.rejects(
      install({ ROOST_AGENT_PORT: 'a\nb' }),
      /^HostServiceFailure: ROOST_AGENT_PORT has more/,
    )
  })
})

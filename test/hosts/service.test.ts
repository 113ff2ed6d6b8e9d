import assert from 'node:assert/strict'
import path from 'node:path'
import process from 'node:process'
import { roostVersion } from '../../src/domain/roost-version.ts'
import { serviceName } from '../../src/launch/host/host-service.ts'
import { ownCheckout } from '../../src/launch/own-checkout.ts'
import { onFailure } from '../support/failure-notes.ts'
import { layWire } from '../support/host-machines.ts'
import type { Machine, Wire } from '../support/host-machines.ts'
import { makeNextVersion, upgradeLimitMs } from '../support/next-version.ts'
import type { NextVersion } from '../support/next-version.ts'
import { virtualMachinesByInstance } from '../support/processes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { Systemd } from '../support/systemd.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
const maxShown = 8_000

describe('a host that systemd runs', function () {
  this.timeout(2 * upgradeLimitMs)
  let wire: Wire
  let machine: Machine
  let systemd: Systemd
  let stack: Stack
  let roost: RoostProgram
  let names: PublicNames
  let counter: Published
  let counted = 0
  let version: NextVersion | undefined

  before(async function () {
    if (!Systemd.isInstalled()) return this.skip()
    wire = layWire(['h2'])
    machine = wire.machines[0]!
    systemd = await Systemd.start(machine)
    stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address })
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    names = openPublicNames(stack)
  })
  after(async () => {
    await names?.close()
    await roost?.remove()
    await systemd?.remove()
    await stack?.remove()
    await wire?.remove()
    version?.remove()
  })
  onFailure(() => systemd?.output().slice(-maxShown) ?? '')

  const roostThere = async (checkout: string, ...args: readonly string[]) =>
    await systemd.run(process.execPath, [path.join(checkout, 'src/bin/roost.ts'), ...args], {
      ROOST_DATA_DIR: machine.dataDir,
    })
  const told = async (property: string) => await systemd.show(serviceName, property)
  const restart = async () => assert.equal((await systemd.run('systemctl', ['restart', serviceName])).code, 0)
  /** Waits until the parts have started that `begin` lets systemd start. */
  async function startedAnew(begin: () => Promise<unknown>): Promise<void> {
    const starts = () => systemd.output().split('This machine is host').length
    const before = starts()
    await begin()
    await until('its parts have started', () => starts() > before, { limitMs })
  }
  const vms = () => virtualMachinesByInstance(machine.dataDir).get(counter.uuid)
  /** Asks the counter until it answers, and verifies that its memory has counted on. */
  async function verifyCountsOn(): Promise<void> {
    const answer = await until(
      'it answers',
      async () => {
        const { status, text } = await names.get(`https://${counter.host}/count`)
        return status === 200 && Number(text)
      },
      { limitMs },
    )
    assert.ok(answer > counted, `${answer} after ${counted}`)
    counted = answer
  }
  const isLive = async (wanted: string) => {
    const { out } = await roost.run(['host', 'list', 'h2'])
    return new RegExp(`^h2 +live .*${wanted.replaceAll('.', String.raw`\.`)}`, 'm').test(out)
  }

  it('is a service from the one line on', async () => {
    const { out, err } = await roost.run(['host', 'invite', '--name', 'h2'])
    const line = /^npx roost join (\S+) (\S+)\n$/.exec(out)?.slice(1)
    assert.ok(line, err)
    const { code, text } = await roostThere(ownCheckout, 'join', ...line, '--service')
    assert.equal(code, 0, text)
    assert.match(text, /systemd runs it as roost-host\.service/)
    await until('it is live', async () => await isLive(roostVersion), { limitMs })
    assert.deepEqual([await told('ActiveState'), await told('UnitFileState')], ['active', 'enabled'])
    await stack.api.one('cordonHosts', { object: 'local' })
    counter = await publish(stack, 'counter')
    await verifyCountsOn()
    assert.equal(vms()?.length, 1)
  })

  it('keeps its VMs when the service is restarted, and when its process dies', async () => {
    const before = vms()
    await startedAnew(restart)
    await verifyCountsOn()
    await startedAnew(async () => await systemd.run('kill', ['-KILL', await told('MainPID')]))
    await verifyCountsOn()
    assert.deepEqual(vms(), before)
  })

  it('is upgraded with its VMs, is the same service all the time, and starts the next version from then on', async () => {
    const before = vms()
    const pid = await told('MainPID')
    version = makeNextVersion('0.1.1')
    const { checkout } = version
    const { code, text } = await roostThere(checkout, 'upgrade', machine.dataDir)
    assert.equal(code, 0, text)
    await until('it is live', async () => await isLive('0.1.1'), { limitMs })
    assert.equal(await told('MainPID'), pid)
    assert.match(await told('ExecStart'), new RegExp(checkout))
    await startedAnew(restart)
    await until('it is live', async () => await isLive('0.1.1'), { limitMs })
    assert.notEqual(await told('MainPID'), pid)
    await verifyCountsOn()
    assert.deepEqual(vms(), before)
  })

  it('ends its VMs in order when the service is stopped', async () => {
    assert.equal((await systemd.run('systemctl', ['stop', serviceName])).code, 0)
    assert.equal(await told('Result'), 'success')
    assert.equal(vms(), undefined)
  })
})

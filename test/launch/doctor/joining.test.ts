import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { joiningChecks, joinRefusal, joinWarnings } from '../../../src/launch/doctor/joining.ts'
import type { JoiningMachine } from '../../../src/launch/doctor/joining.ts'
import { hostAndPort } from '../../../src/domain/host-and-port.ts'
import { joinInstallation, meetInstallation } from '../../../src/trust/join-client.ts'
import { writeJoinToken } from '../../../src/trust/join-token.ts'
import { publicKeyOf } from '../../../src/trust/kept-identity.ts'
import { makeKey } from '../../../src/x509/key-pair.ts'
import { startRemoteApi } from '../../support/remote-api.ts'
import { refusalOf } from '../refusal.ts'

describe('what a machine is checked for before it joins', () => {
  let directory: string
  before(() => (directory = mkdtempSync(path.join(tmpdir(), 'roost-joining-'))))
  after(() => rmSync(directory, { recursive: true }))

  const checked = async (
    given: Partial<JoiningMachine> = {},
    probe = async () => await Promise.resolve({ usable: true, reason: 'a guest ran' }),
  ) => {
    const machine: JoiningMachine = {
      ownAddress: '127.0.0.1',
      theirMs: Date.now(),
      agentPort: 0,
      meshPort: 0,
      hasMesh: false,
      dataDir: directory,
      cacheDir: directory,
      vmm: 'auto',
      accel: 'auto',
      ...given,
    }
    return await joiningChecks(machine, probe)
  }
  const noKvm = async () => await Promise.resolve({ usable: false, reason: 'no module\nKVM failed\n' })
  const resultsOf = (checks: Awaited<ReturnType<typeof checked>>) =>
    Object.fromEntries(checks.map(({ name, status }) => [name, status]))

  it('is everything that instances need, and the way to them', async () => {
    const names = (await checked()).map(({ name }) => name)
    for (const name of [
      'clock',
      'port of the agent',
      'port of the mesh',
      'data directory',
      'tunnel',
      '/dev/net/tun',
      'QEMU',
      'guest kernel',
      'e2fsprogs',
      'acceleration',
    ])
      assert.ok(names.includes(name), name)
    const pretended = (await checked({ vmm: 'fake' })).map(({ name }) => name)
    assert.deepEqual(
      pretended.filter((name) => ['tunnel', 'QEMU', 'acceleration'].includes(name)),
      [],
    )
  })

  it('refuses in one sentence, which names all that has to be done', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    const checks = await checked({ agentPort: port, theirMs: Date.now() + 100_000, vmm: 'fake' })
    squatter.close()
    assert.equal(
      joinRefusal(checks),
      'this machine can not be a host yet, and its invitation is still good: clock: 100 s behind the control plane (set the ' +
        `clocks by a time server, such as with chrony); port of the agent: TCP ${port} is used by another process (end it, or ` +
        'set ROOST_AGENT_PORT)',
    )
  })

  it('only warns where KVM is not there, unless the host is told to use it', async () => {
    const slow = (await checked({}, noKvm)).filter(({ name }) => name === 'acceleration')
    assert.equal(joinRefusal(slow), undefined)
    assert.deepEqual(joinWarnings(slow), [
      'acceleration: emulation, which is slower; no KVM: no module, KVM failed',
    ])
    const useless = (await checked({ accel: 'kvm' }, noKvm)).filter(({ name }) => name === 'acceleration')
    assert.match(String(joinRefusal(useless)), /no KVM: no module, KVM failed \(set ROOST_ACCEL to auto\)$/)
    assert.equal(resultsOf(await checked({ accel: 'tcg' }, noKvm))['acceleration'], undefined)
  })

  it('comes before the invitation is used up', async () => {
    const remote = await startRemoteApi()
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    try {
      const token = await remote.invite('attic')
      const { port } = squatter.address() as AddressInfo
      const { code, stderr } = await refusalOf(
        'roost',
        { ROOST_DATA_DIR: directory, ROOST_VMM: 'fake', ROOST_AGENT_PORT: String(port) },
        ['join', hostAndPort(remote.place), writeJoinToken(token)],
      )
      assert.equal(code, 1)
      assert.match(
        stderr,
        new RegExp(`^roost: this machine can not be a host yet, .*TCP ${port} is used`, 'm'),
      )
      const met = await meetInstallation(remote.place, token)
      assert.equal(
        (await joinInstallation(met, token, { publicKey: publicKeyOf(makeKey()), rolePublicKeys: {} }))
          .hostId,
        'attic',
      )
    } finally {
      squatter.close()
      await remote.close()
    }
  })
})

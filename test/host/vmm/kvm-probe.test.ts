import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readGuestAssets } from '../../../src/host/vmm/guest-assets.ts'
import type { GuestAssets } from '../../../src/host/vmm/guest-assets.ts'
import { readHostFacts } from '../../../src/host/vmm/host-facts.ts'
import type { HostFacts } from '../../../src/host/vmm/host-facts.ts'
import { kvmVerdict } from '../../../src/host/vmm/kvm-probe.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'

const microvm = [
  '-M',
  'microvm',
  '-m',
  '32',
  '-nodefaults',
  '-no-user-config',
  '-display',
  'none',
  '-no-reboot',
]

describe('the KVM probe', () => {
  let directory: string
  let facts: HostFacts
  let assets: GuestAssets

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-kvm-'))
    facts = await readHostFacts()
    assets = await readGuestAssets(requireInstalled(readInstalled(), 'guestDirectory'))
  })
  after(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('is a program that passes on a machine that works', async () => {
    const probe = [
      '-accel',
      'tcg',
      '-kernel',
      assets.kvmProbePath,
      '-device',
      'isa-debug-exit,iobase=0xf4,iosize=4',
    ]
    const code = await new Promise((resolve) => {
      execFile(facts.qemuPath, [...microvm, ...probe], { timeout: 10_000 }, (error) => resolve(error?.code))
    })
    assert.equal(code, 65)
  })

  it('gives its reason, and the same verdict again without another run', async () => {
    const first = await kvmVerdict(facts, assets, directory)
    assert.notEqual(first.reason, '')
    const cachePath = path.join(directory, 'kvm-verdict.json')
    const cached = JSON.parse(await readFile(cachePath, 'utf8')) as { key: string; verdict: object }
    await writeFile(
      cachePath,
      JSON.stringify({ ...cached, verdict: { usable: false, reason: 'from the cache' } }),
    )
    assert.equal((await kvmVerdict(facts, assets, directory)).reason, 'from the cache')
    const rebooted = await kvmVerdict({ ...facts, bootId: 'another boot' }, assets, directory)
    assert.notEqual(rebooted.reason, 'from the cache')
  })
})

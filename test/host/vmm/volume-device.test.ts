import assert from 'node:assert/strict'
import type { KernelImage } from '../../../src/host/images/images.ts'
import { encodeGuestConfig } from '../../../src/host/vmm/guest-config.ts'
import { planMachine, planRestore, snapshotKeyOf, templateKey } from '../../../src/host/vmm/machine-plan.ts'
import type { PlanContext } from '../../../src/host/vmm/machine-plan.ts'
import { parseVmEvents } from '../../../src/host/vmm/vm-events.ts'
import { volumeComplaint } from '../../../src/host/vmm/volume-complaint.ts'
import type { VmSpec, VmVolume } from '../../../src/host/vmm/vmm.ts'
import { vmSpec } from './spec.ts'

const context: PlanContext = {
  facts: {
    qemuPath: '/usr/bin/qemu',
    qemuVersion: '7.2',
    bootId: 'b',
    tscKhz: 1,
    isRoot: true,
    cpuModel: 'm',
  },
  assets: {
    kernelPath: '/k',
    initrdPath: '/i',
    keeperPath: '/keeper',
    kvmProbePath: '/p',
    kernelRelease: '6.1',
    guestHash: 'h',
  },
  accelerator: 'tcg',
}

const volume: VmVolume = { uuid: 'v1', path: '/volumes/v1/volume.img', readonly: false, at: '/data' }
const kernelImage: KernelImage = {
  kind: 'kernel',
  digest: 'sha256:0',
  kernelPath: '/own',
  kernelArgs: [],
  command: [],
  env: [],
  labels: {},
}

describe('the device of a volume', () => {
  let plain: VmSpec

  before(async () => {
    const instanceUuid = '00000000-0000-4000-8000-000000000000'
    plain = await vmSpec({ directory: '/tmp', instanceUuid, rootfsPath: '/root.squashfs', argv: ['x'] })
  })

  function argumentsWith(option: string, command: readonly string[]): readonly string[] {
    return command.filter((_, index) => command[index - 1] === option)
  }

  it('is the same for each kind of start, and the VMM opens no file for it', () => {
    const spec = { ...plain, volume }
    const template = { ramPath: '/ram', statePath: '/state' }
    const plans = [
      planMachine(spec, context),
      planMachine(spec, context, template),
      planRestore(spec, context, { memoryPath: '/memory', carried: [] }),
      planMachine({ ...spec, image: kernelImage }, context),
    ]
    const device = argumentsWith('-device', plans[0]?.command ?? []).find((each) =>
      each.includes('serial=volume'),
    )
    assert.match(device ?? '', /^virtio-blk-device,.*serial=volume,.*werror=enospc/)
    for (const { command, files, volumeFd } of plans) {
      assert.ok(argumentsWith('-device', command).includes(device ?? ''))
      assert.deepEqual(argumentsWith('-add-fd', command), [`fd=${volumeFd},set=1`])
      assert.deepEqual(files[(volumeFd ?? 0) - 3], { path: volume.path, flags: 'r+' })
      assert.ok(!command.join(' ').includes('volume.img'))
      assert.match(
        argumentsWith('-blockdev', command)[0] ?? '',
        /filename=\/dev\/fdset\/1,locking=on,.*cache\.direct=off.*discard=unmap,read-only=off/,
      )
    }
  })

  it('that is read-only is read-only for the VMM and for the descriptor', () => {
    const { command, files, volumeFd } = planMachine(
      { ...plain, volume: { ...volume, readonly: true } },
      context,
    )
    assert.equal(files[(volumeFd ?? 0) - 3]?.flags, 'r')
    for (const node of argumentsWith('-blockdev', command)) assert.match(node, /read-only=on/)
  })

  it('is not there where there is no volume', () => {
    const { command, volumeFd } = planMachine(plain, context)
    assert.equal(volumeFd, undefined)
    assert.doesNotMatch(command.join(' '), /volume|main-loop|throttle/)
  })

  it('needs a template of its own, the same for every volume, and a snapshot of its own for each volume, place and right', () => {
    const keys = [volume, { ...volume, uuid: 'v2', at: '/x', readonly: true }].map((each) =>
      templateKey({ ...plain, volume: each }, context),
    )
    assert.equal(new Set(keys).size, 1)
    assert.notEqual(keys[0], templateKey(plain, context))
    const variants = [
      volume,
      { ...volume, uuid: 'v2' },
      { ...volume, at: '/x' },
      { ...volume, readonly: true },
    ]
    const snapshotKey = variants.map((each) => snapshotKeyOf({ ...plain, volume: each }, context))
    assert.equal(new Set([...snapshotKey, snapshotKeyOf(plain, context)]).size, variants.length + 1)
    const moved = { ...volume, path: '/another/directory/of/the/same.img' }
    assert.equal(snapshotKeyOf({ ...plain, volume: moved }, context), snapshotKey[0])
  })

  it('is told to the guest with its place and right', () => {
    const { process, attachment } = plain
    const records = encodeGuestConfig(process, attachment, { ...volume, readonly: true })
      ?.toString()
      .split('\0')
    assert.ok(records?.includes('volume=/data') && records.includes('volume_readonly=1'))
    assert.doesNotMatch(encodeGuestConfig(process, attachment)?.toString() ?? '', /volume/)
  })
})

describe('what a guest says against its volume', () => {
  const complaintOf = (words: string) => volumeComplaint(parseVmEvents(`1 ${words}\n`), { at: '/data' })

  it('is a sentence with the place and the reason', () => {
    assert.match(complaintOf('volume-unusable not-empty 0') ?? '', /'\/data': the image has files there/)
    assert.match(complaintOf('volume-unusable not-mounted 117') ?? '', /refused \(it is damaged\)/)
    assert.match(complaintOf('volume-unusable not-made 28') ?? '', /could not be made \(ENOSPC\)/)
    assert.match(complaintOf('volume-unusable no-disk 0') ?? '', /the guest did not find its disk/)
    assert.match(complaintOf('volume-unusable something-new 1') ?? '', /^the volume can not be mounted at/)
    assert.equal(complaintOf('ready'), undefined)
  })
})

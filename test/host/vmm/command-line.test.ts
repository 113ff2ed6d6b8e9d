import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { buildCommandLine, platformKernelArguments } from '../../../src/host/vmm/command-line.ts'
import type { Machine } from '../../../src/host/vmm/command-line.ts'
import { encodeGuestConfig, maxGuestConfigBytes } from '../../../src/host/vmm/guest-config.ts'
import { parseTscKhz } from '../../../src/host/vmm/host-facts.ts'
import { isSameProcess, parseStat } from '../../../src/host/vmm/process-stat.ts'

const attachment = {
  kind: 'tap',
  interfaceName: 'tap7',
  ownerUid: 7,
  ip: '10.64.0.7',
  prefixLength: 16,
  gateway: '10.64.0.1',
  nameserver: '10.64.0.1',
  mac: '12:b0:0a:40:00:07',
} as const

const machine: Machine = {
  qemuPath: '/usr/bin/qemu',
  accelerator: 'tcg',
  memoryMb: 128,
  vcpus: 2,
  kernel: { kernelFd: 3, initrdFd: 4, commandLine: 'console=ttyS0' },
  rootDiskFd: 5,
  attachment,
}

/** The value after every occurrence of an option. */
function valuesOf(command: readonly string[], option: string): readonly string[] {
  return command.filter((_, index) => command[index - 1] === option)
}

describe('the command line of the VMM', () => {
  it('names files only by descriptor, and never lets the VMM start programs', () => {
    const command = buildCommandLine(machine)
    assert.deepEqual(valuesOf(command, '-kernel'), ['/dev/fd/3'])
    assert.deepEqual(valuesOf(command, '-initrd'), ['/dev/fd/4'])
    assert.match(valuesOf(command, '-drive')[0] ?? '', /^file=\/dev\/fd\/5,.*readonly=on/)
    assert.match(valuesOf(command, '-sandbox')[0] ?? '', /^on,.*spawn=deny/)
  })

  it('of a template and of what starts from it has the same devices in the same order', () => {
    const { kernel, ...withoutKernel } = machine
    const made = buildCommandLine({ ...withoutKernel, ...(kernel && { kernel }), template: { ramFd: 6 } })
    const used = buildCommandLine({ ...withoutKernel, template: { ramFd: 6, stateFd: 7 } })
    assert.deepEqual(valuesOf(used, '-device'), valuesOf(made, '-device'))
    assert.deepEqual(valuesOf(used, '-M'), valuesOf(made, '-M'))
    assert.match(valuesOf(made, '-object')[0] ?? '', /share=on/)
    assert.match(valuesOf(used, '-object')[0] ?? '', /share=off/)
    assert.deepEqual(valuesOf(used, '-kernel'), [])
  })

  it('of a restored machine has the devices and the name of the memory of every machine that a snapshot can be of', () => {
    const { kernel: _, ...withoutKernel } = machine
    const restored = buildCommandLine({ ...withoutKernel, fromSnapshot: true })
    const fromTemplate = buildCommandLine({ ...withoutKernel, template: { ramFd: 6, stateFd: 7 } })
    for (const born of [buildCommandLine(machine), fromTemplate]) {
      assert.deepEqual(valuesOf(restored, '-device'), valuesOf(born, '-device'))
      assert.deepEqual(valuesOf(restored, '-M'), valuesOf(born, '-M'))
      assert.match(valuesOf(born, '-object')[0] ?? '', /,id=ram,size=128M/)
    }
    assert.deepEqual(valuesOf(restored, '-object'), ['memory-backend-ram,id=ram,size=128M'])
    assert.deepEqual(valuesOf(restored, '-incoming'), ['defer'])
    assert.deepEqual(valuesOf(restored, '-kernel'), [])
  })

  it('under emulation tells the guest its clock’s frequency, and under KVM leaves the timers alone', () => {
    assert.match(platformKernelArguments('tcg', 2_300_000), /^tsc_early_khz=2300000 tsc=reliable /)
    assert.doesNotMatch(platformKernelArguments('kvm', 2_300_000), /tsc/)
    assert.doesNotMatch(buildCommandLine({ ...machine, accelerator: 'kvm' }).join(' '), /pit=off/)
  })

  it('under emulation has room for a second processor, without which QEMU leaves out the barriers of a guest', () => {
    const processors = (vcpus: number, accelerator: Machine['accelerator'] = 'tcg') =>
      valuesOf(buildCommandLine({ ...machine, vcpus, accelerator }), '-smp')
    assert.deepEqual(processors(1), ['1,maxcpus=2'])
    assert.deepEqual(processors(4), ['4,maxcpus=4'])
    assert.deepEqual(processors(1, 'kvm'), ['1'])
  })

  it('under KVM gives the guest all features of the processor except those for virtual machines', () => {
    const [cpu] = valuesOf(buildCommandLine({ ...machine, accelerator: 'kvm' }), '-cpu')
    assert.equal(cpu, 'host,-vmx,-svm')
  })

  it('names no network device of the host, but a descriptor', () => {
    assert.deepEqual(valuesOf(buildCommandLine(machine), '-netdev'), ['tap,id=net,fd=24'])
  })

  it('lets a guest in the user-mode network connect to nothing, and the host to its forwarded ports', () => {
    const command = buildCommandLine({
      ...machine,
      attachment: {
        ...attachment,
        kind: 'user',
        forwards: [{ hostPort: 18_080, guestPort: 80 }],
      },
    })
    const [network] = valuesOf(command, '-netdev')
    assert.match(network ?? '', /restrict=on,hostfwd=tcp:127\.0\.0\.1:18080-10\.64\.0\.7:80$/)
  })
})

describe('the configuration of a guest', () => {
  const process = { argv: ['a b', ''], env: { X: '1=2\n' }, workingDirectory: '/w', user: 'u', hostname: 'h' }

  it('is a list of records that end with NUL, in order, with all bytes unchanged', () => {
    const records = encodeGuestConfig(process, attachment)?.toString().split('\0') ?? []
    assert.deepEqual(records.slice(0, 6), [
      'arg=a b',
      'arg=',
      'env=X=1=2\n',
      'cwd=/w',
      'user=u',
      'hostname=h',
    ])
    assert.equal(records.at(-1), '')
  })

  it('carries other random bytes each time', () => {
    const [one, other] = [encodeGuestConfig(process, attachment), encodeGuestConfig(process, attachment)]
    assert.notDeepEqual(one, other)
  })

  it('refuses NUL and more than its bound', () => {
    assert.equal(encodeGuestConfig({ ...process, argv: ['a\0b'] }, attachment), undefined)
    assert.equal(
      encodeGuestConfig({ ...process, argv: ['x'.repeat(maxGuestConfigBytes)] }, attachment),
      undefined,
    )
  })
})

describe('what is read of the host', () => {
  it('a process whose name holds blanks and parentheses keeps its fields', () => {
    const fields = [
      'S',
      ...Array.from({ length: 10 }, () => '0'),
      '12',
      '34',
      '0',
      '0',
      '0',
      '0',
      '0',
      '0',
      '777',
      '0',
      '55',
    ]
    assert.deepEqual(parseStat(`42 (a) b) ${fields.join(' ')}`), {
      state: 'S',
      startTime: '777',
      cpuTicks: 46,
      rssPages: 55,
    })
  })

  it('a process is the same if its number, its start time and, where given, its user or argument are the same', async () => {
    const uid = process.getuid?.() ?? 0
    const startTime = parseStat(readFileSync('/proc/self/stat', 'utf8'))?.startTime ?? ''
    assert.equal(await isSameProcess(process.pid, startTime), true)
    assert.equal(await isSameProcess(process.pid, startTime, { uid }), true)
    assert.equal(await isSameProcess(process.pid, startTime, { uid: uid + 1 }), false)
    const [argument = ''] = readFileSync('/proc/self/cmdline', 'utf8').split('\0')
    assert.equal(await isSameProcess(process.pid, startTime, { argument }), true)
    assert.equal(await isSameProcess(process.pid, startTime, { argument: `${argument}0` }), false)
    assert.equal(await isSameProcess(process.pid, `${startTime}0`, { uid }), false)
  })

  it('the clock’s frequency is half the bogomips', () => {
    assert.equal(parseTscKhz('model name\t: x\nbogomips\t: 4599.99\n'), 2_299_995)
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ControlGroups, enterByKeeper, findGroupHierarchies } from '../../../src/host/vmm/control-groups.ts'
import { groupRoot } from '../../../src/domain/host/processor-shares.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { commandLineOf, familyOf, groupsOf } from '../../support/processes.ts'
import { WaitingKeepers } from '../../../src/host/vmm/waiting-keepers.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

const mebibyte = 1024 * 1024
const limit = { limitMs: 30_000 }

describe('control groups, where they are laid out', () => {
  let root: string
  const problems: string[] = []

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'roost-groups-'))
    problems.splice(0)
  })
  afterEach(async () => {
    await rm(root, { recursive: true })
  })

  const open = async (tryToEnter = async () => await Promise.resolve()) =>
    await ControlGroups.open({
      root,
      agentDirectory: '/agent',
      memoryMb: 1_000,
      tryToEnter,
      onProblem: (message) => problems.push(message),
    })

  /**
   * The content of each file in a directory. These directories are in a usual file system and not in one of
   * control groups, so a file has what was written to it last.
   */
  async function valuesIn(directory: string): Promise<Readonly<Record<string, string>>> {
    const found = await readdir(directory, { withFileTypes: true })
    const files = found.filter((one) => one.isFile()).map(({ name }) => name)
    const texts = await Promise.all(
      files.map(async (name) => await readFile(path.join(directory, name), 'utf8')),
    )
    return Object.fromEntries(files.map((name, index) => [name, texts[index] ?? '']))
  }

  it('as version 2, bound all VMs and each of them in one hierarchy', async () => {
    await writeFile(path.join(root, 'cgroup.subtree_control'), '')
    await writeFile(path.join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n')
    const groups = await open()
    const group = await groups.prepare('user-1')
    await groups.limit(group, { memoryMb: 256, vcpus: 2 })
    const [directory = ''] = group.directories
    const userGroup = path.dirname(directory)
    const parent = path.dirname(userGroup)
    assert.match(path.relative(root, directory), /^roost-[0-9a-f]{12}\/user-1\/vm-[0-9a-f]{8}$/)
    assert.deepEqual(await valuesIn(userGroup), { 'cgroup.subtree_control': '+cpu' })
    assert.deepEqual(await valuesIn(directory), {
      'memory.max': String((256 + 64 + 192) * mebibyte),
      'pids.max': '130',
      'cpu.weight': '200',
    })
    const { 'pids.max': pids, ...values } = await valuesIn(parent)
    assert.deepEqual(values, {
      'memory.max': String(1_000 * mebibyte),
      'memory.swap.max': '0',
      'cpu.weight': '50',
      'cgroup.subtree_control': '+cpu',
    })
    assert.equal(Number(pids), Math.floor(Number(await readFile('/proc/sys/kernel/pid_max', 'utf8')) / 2))
    assert.deepEqual(problems, [])
  })

  it('as version 1, bound them in one hierarchy per controller, and report a missing controller', async () => {
    for (const controller of ['memory', 'cpu']) {
      await mkdir(path.join(root, controller))
      await writeFile(path.join(root, controller, 'cgroup.procs'), '')
    }
    const groups = await open()
    const group = await groups.prepare('user-1')
    await groups.limit(group, { memoryMb: 16, vcpus: 4 })
    const [memory = '', cpu = ''] = group.directories
    assert.deepEqual(await valuesIn(memory), { 'memory.limit_in_bytes': String((96 + 64 + 192) * mebibyte) })
    assert.deepEqual(await valuesIn(cpu), { 'cpu.shares': '4096' })
    assert.deepEqual(await valuesIn(path.dirname(path.dirname(memory))), {
      'memory.limit_in_bytes': String(1_000 * mebibyte),
      'memory.memsw.limit_in_bytes': String(1_000 * mebibyte),
    })
    assert.deepEqual(await valuesIn(path.dirname(path.dirname(cpu))), { 'cpu.shares': '512' })
    assert.match(
      problems.join(),
      /^control groups do not bound pids of virtual machines; 'roost admin doctor'/,
    )
  })

  it('never take memory from running VMs that they already have', async () => {
    await mkdir(path.join(root, 'memory'))
    await writeFile(path.join(root, 'memory/cgroup.procs'), '')
    const [memory = ''] = (await (await open()).prepare('user-1')).directories
    const parent = path.dirname(path.dirname(memory))
    await writeFile(path.join(parent, 'memory.usage_in_bytes'), String(3_000 * mebibyte))
    await open()
    assert.equal((await valuesIn(parent))['memory.limit_in_bytes'], String(3_000 * mebibyte))
  })

  it('are not used where there are none, or none can be entered, and that is reported', async () => {
    assert.deepEqual((await (await open()).prepare('user-1')).directories, [])
    assert.match(problems.splice(0).join(), /do not bound memory, pids, cpu/)
    await mkdir(path.join(root, 'memory'))
    await writeFile(path.join(root, 'memory/cgroup.procs'), '')
    const groups = await open(async () => await Promise.reject(new Error('not permitted')))
    assert.deepEqual((await groups.prepare('user-1')).directories, [])
    assert.match(problems.join(), /no control groups in .*\/memory: Error: not permitted/)
  })
})

describe('control groups of this machine', () => {
  let bench: QemuBench

  before(async function () {
    const found = await findGroupHierarchies()
    if (process.geteuid?.() !== 0 || found.length === 0) this.skip()
    bench = await openQemuBench()
  })
  after(async () => {
    await bench?.close()
  })

  const open = async (memoryMb = 2_000) =>
    await ControlGroups.open({
      agentDirectory: bench.directory,
      memoryMb,
      tryToEnter: async (directories) => await enterByKeeper(bench.context.assets.keeperPath, directories),
    })

  const scoreOf = async (pid: number) => Number(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8'))

  it('hold a VM and its keeper from their beginning to their end, and go with them', async () => {
    const vmm = bench.open({ groups: await open() })
    const spec = await bench.spec({ argv: ['sh', '-c', 'exec sleep 1000'], memoryMb: 160 })
    let directories: readonly string[] = []
    try {
      await vmm.start({ ...spec, vcpus: 2 })
      const [qemu, keeper] = [await bench.pidOf(spec, 'qemu'), await bench.pidOf(spec, 'keeper')]
      const lines = groupsOf(qemu)
      assert.deepEqual(groupsOf(keeper), lines)
      const hierarchies = await findGroupHierarchies()
      assert.equal(lines.length, hierarchies.length)
      const name = lines[0]?.split('/').slice(-3).join('/') ?? ''
      directories = hierarchies.map(({ directory }) => path.join(directory, name))
      const first = directories[0] ?? ''
      const file = hierarchies[0]?.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'
      assert.ok(first.startsWith(groupRoot))
      assert.equal(Number(await readFile(path.join(first, file), 'utf8')), (160 + 64 + 192) * mebibyte)
      assert.deepEqual([await scoreOf(qemu), await scoreOf(keeper)], [500, 100])
      await vmm.kill(spec, 'forced')
      await exitOf(vmm, spec)
      await vmm.forget(spec)
      await until('its groups are gone', () => isThere(directories).length === 0, limit)
    } finally {
      await vmm.kill(spec, 'forced')
      await vmm.close()
    }
  })

  it('of one user are in one user group, so that processors are shared per user and not per VM, also by the next agent', async () => {
    const annUuid = randomUUID()
    const specs = await Promise.all(
      [annUuid, annUuid, randomUUID(), annUuid].map(
        async (userUuid) => await bench.spec({ argv: ['sh', '-c', 'exec sleep 1000'], userUuid }),
      ),
    )
    const userGroupOf = async (spec: VmSpec) =>
      groupsOf(await bench.pidOf(spec, 'qemu'))
        .map((line) => path.dirname(line))
        .join()
    const [first, second, others, third] = specs as [VmSpec, VmSpec, VmSpec, VmSpec]
    let vmm = bench.open({ groups: await open() })
    try {
      await Promise.all([first, second, others].map(async (spec) => await vmm.start(spec)))
      await vmm.close()
      vmm = bench.open({ groups: await open() })
      await vmm.recover()
      await vmm.start(third)
      const ofAnn = await userGroupOf(first)
      assert.match(ofAnn, /\/roost-[0-9a-f]{12}\/user-[0-9a-f]{8}/)
      assert.equal(await userGroupOf(second), ofAnn)
      assert.equal(await userGroupOf(third), ofAnn)
      assert.notEqual(await userGroupOf(others), ofAnn)
    } finally {
      for (const spec of specs) {
        await vmm.kill(spec, 'forced')
        await vmm.forget(spec)
      }
      await vmm.close()
    }
  })

  it('weigh less for a user who uses the processors that others leave idle', async function () {
    const hierarchy = (await findGroupHierarchies()).find(({ controllers }) => controllers.includes('cpu'))
    if (hierarchy === undefined) this.skip()
    const { version, directory } = hierarchy
    // Other tests run at the same time, so the VMs that spin may get no more than an equal part of this
    // machine. With half a processor in all, an equal part of two users is a quarter of a processor, and
    // they get more.
    const vmm = bench.open({ groups: await open(), processors: 0.5 })
    const spinning = await bench.spec({ argv: ['sh', '-c', 'while :; do :; done'], userUuid: 'ann' })
    const second = await bench.spec({ argv: ['sh', '-c', 'while :; do :; done'], userUuid: 'ann' })
    const resting = await bench.spec({ argv: ['sh', '-c', 'exec sleep 1000'], userUuid: 'bob' })
    const weightOf = async (spec: VmSpec): Promise<number> => {
      const line = groupsOf(await bench.pidOf(spec, 'qemu')).find((one) => /[:,]cpu[,:]|^0::/.test(one))
      const group = path.dirname(line?.replace(/^[^/]*/, '') ?? '')
      const file = version === 1 ? 'cpu.shares' : 'cpu.weight'
      return Number(await readFile(path.join(directory, group, file), 'utf8'))
    }
    try {
      await vmm.recover()
      await Promise.all([spinning, second, resting].map(async (spec) => await vmm.start(spec)))
      const usual = version === 1 ? 1_024 : 100
      await until('the one that spins weighs less', async () => (await weightOf(spinning)) < usual, limit)
      assert.equal(await weightOf(second), await weightOf(spinning))
      await until('the other is as it was', async () => (await weightOf(resting)) === usual, limit)
    } finally {
      for (const spec of [spinning, second, resting]) {
        await vmm.kill(spec, 'forced')
        await vmm.forget(spec)
      }
      await vmm.close()
    }
  })

  it('of the users who needed one last have waiting keepers, and those of earlier users have none', async () => {
    const groups = await open()
    const keepers = new WaitingKeepers({ ...bench.keeperPrograms, groups })
    const waiting = () => familyOf(process.pid).filter((pid) => isWaitingKeeper(pid))
    const others = waiting()
    try {
      const first = await keepers.take('ann')
      const ofAnn = first.group?.userGroup ?? ''
      const inGroupOfAnn = () => {
        const lines = waiting().map(groupsOf)
        return lines.filter(([line]) => line?.includes(`/${ofAnn}/`)).length
      }
      // A keeper that was taken still looks as if it waited, because it has no order.
      await until('two more wait there', () => inGroupOfAnn() === 3, limit)
      assert.equal((await keepers.take('ann')).group?.userGroup, ofAnn)
      const taken = []
      for (let user = 0; user < 8; user++) taken.push((await keepers.take(`user ${user}`)).group?.userGroup)
      assert.equal(new Set([...taken, ofAnn]).size, 9, 'each user has a group')
      await until('none waits for ann', () => inGroupOfAnn() === 2, limit)
      assert.equal((await keepers.take('ann')).group?.userGroup, ofAnn, 'which is still hers')
    } finally {
      await keepers.close()
      for (const pid of waiting()) if (!others.includes(pid)) process.kill(pid, 'SIGKILL')
    }
  })

  it('of an agent that died stay with its VMs, and the next agent removes them when the VMs are over', async () => {
    const dead = await (await open()).prepare('user-1')
    assert.notEqual(isThere(dead.directories).length, 0)
    const next = await open()
    assert.deepEqual(isThere(dead.directories), [])
    await next.close()
  })

  it('end the VM that takes most, and no other, where all together take too much', async () => {
    const vmm = bench.open({ groups: await open(440) })
    const eat =
      'mount -t tmpfs -o size=100% none /dev/shm; sleep 3; dd if=/dev/urandom of=/dev/shm/x bs=1M count=400; sleep 1000'
    const modest = await bench.spec({ argv: ['sh', '-c', 'exec sleep 1000'] })
    const greedy = await bench.spec({ argv: ['sh', '-c', eat], memoryMb: 600 })
    try {
      await Promise.all([vmm.start(modest), vmm.start(greedy)])
      const exit = await exitOf(vmm, greedy)
      assert.equal(exit.cause, ExitCause.VmmLost)
      assert.equal((await vmm.status(modest))?.exit, undefined)
    } finally {
      for (const spec of [greedy, modest]) await vmm.kill(spec, 'forced')
      for (const spec of [greedy, modest]) await vmm.forget(spec)
      await vmm.close()
    }
  })
})

function isWaitingKeeper(pid: number): boolean {
  return /keeper wait( |$)/.test(commandLineOf(pid))
}

/** The directories that still exist. */
function isThere(directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => existsSync(directory))
}

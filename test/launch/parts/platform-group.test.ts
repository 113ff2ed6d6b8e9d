import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { groupRoot } from '../../../src/domain/host/processor-shares.ts'
import { leavePlatformGroup, openPlatformGroup } from '../../../src/launch/parts/platform-group.ts'
import { runPart } from './run-part.ts'

const version1 = '5:memory:/somewhere\n4:cpu,cpuacct:/\n0::/\n'
const version2 = '0::/\n'

describe('the control group of the platform, in a directory that stands for that of the kernel', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'roost-platform-group-'))
    mkdirSync(path.join(root, 'cpu'))
  })
  afterEach(() => {
    rmSync(root, { recursive: true })
  })

  const own = (text: string) => {
    writeFileSync(path.join(root, 'own'), text)
    return { root, ownGroups: path.join(root, 'own') }
  }
  /** All files in a directory, with the text that was written into each. */
  const valuesIn = (directory: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      readdirSync(directory, { withFileTypes: true, recursive: true })
        .filter((one) => one.isFile() && one.name !== 'own')
        .map(({ parentPath, name }) => path.join(parentPath, name))
        .map((file) => [path.relative(directory, file), readFileSync(file, 'utf8')]),
    )
  const groupIn = (directory: string) =>
    readdirSync(directory).find((name) => name.startsWith('roost-platform-')) ?? 'none'

  it('has eight times the usual weight: version 1', () => {
    openPlatformGroup('/data', own(version1))?.enter(42)
    const directory = path.join(root, 'cpu')
    assert.match(groupIn(directory), /^roost-platform-[0-9a-f]{12}$/)
    assert.deepEqual(valuesIn(path.join(directory, groupIn(directory))), {
      'cpu.shares': '8192',
      'cgroup.procs': '42',
    })
  })

  it('has eight times the usual weight: version 2', () => {
    openPlatformGroup('/data', own(version2))?.enter(42)
    const group = groupIn(root)
    assert.deepEqual(valuesIn(root), {
      'cgroup.subtree_control': '+cpu',
      [`${group}/cpu.weight`]: '800',
      [`${group}/cgroup.procs`]: '42',
    })
  })

  it('differs between data directories', () => {
    for (const directory of ['/one', '/other', '/one']) openPlatformGroup(directory, own(version2))
    assert.equal(readdirSync(root).filter((name) => name.startsWith('roost-platform-')).length, 2)
  })

  it('is not made where the kernel names groups and none are mounted', () => {
    // In this file system, too, the kernel answers ENOENT to each attempt to make a directory.
    assert.equal(openPlatformGroup('/data', { ...own(version1), root: '/proc' }), undefined)
    assert.equal(openPlatformGroup('/data', { ...own(version2), root: '/proc' }), undefined)
  })

  it('is not made if a service manager has placed the stack in a group, or if there are no groups', () => {
    for (const text of ['4:cpu:/unit\n0::/\n', '0::/system.slice/roost.service\n', '4:memory:/\n', '']) {
      assert.equal(openPlatformGroup('/data', own(text)), undefined, text)
    }
    assert.equal(openPlatformGroup('/data', { root, ownGroups: path.join(root, 'absent') }), undefined)
    assert.deepEqual(valuesIn(root), {})
  })

  it('is removed again if the kernel does not permit its weight', () => {
    mkdirSync(path.join(root, 'cgroup.subtree_control'))
    assert.equal(openPlatformGroup('/data', own(version2)), undefined)
    assert.equal(groupIn(root), 'none')
  })

  it('is left by a process that is in it, and by no other', () => {
    const members = path.join(root, 'cpu', 'cgroup.procs')
    leavePlatformGroup(own('4:cpu:/unit\n'))
    assert.equal(existsSync(members), false)
    leavePlatformGroup(own('4:cpu:/roost-platform-0123456789ab\n0::/\n'))
    assert.equal(readFileSync(members, 'utf8'), String(process.pid))
  })
})

describe('a part', () => {
  it('runs in its group with what it starts, unless it gives way; the group goes when it has ended', async function () {
    const group = openPlatformGroup(`/${randomUUID()}`)
    if (group === undefined) this.skip()
    const show = 'sleep 0.2; (grep -oE "roost-platform-.*" /proc/self/cgroup || echo none)'
    const part = { program: 'sh', args: ['-c', show] }
    const lines: string[] = []
    try {
      for (const givesWay of [false, true]) {
        lines.push(...(await runPart({ ...part, givesWay }, { enterGroup: group.enter })))
      }
    } finally {
      await group.close()
    }
    const [name = '', other] = lines
    assert.match(name, /^roost-platform-[0-9a-f]{12}$/)
    assert.equal(other, 'none')
    for (const hierarchy of ['', 'cpu']) {
      assert.equal(existsSync(path.join(groupRoot, hierarchy, name)), false)
    }
  })
})

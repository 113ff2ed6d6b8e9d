import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import { readGuestAssets } from '../../../src/host/vmm/guest-assets.ts'
import { readHostFacts } from '../../../src/host/vmm/host-facts.ts'
import type { PlanContext } from '../../../src/host/vmm/machine-plan.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { QemuVmmOptions } from '../../../src/host/vmm/qemu-vmm.ts'
import { TemplateStore } from '../../../src/host/vmm/template-store.ts'
import { findEvent, parseVmEvents } from '../../../src/host/vmm/vm-events.ts'
import type { VmEvent } from '../../../src/host/vmm/vm-events.ts'
import type { VmName, VmSpec } from '../../../src/host/vmm/vmm.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { makeBusyboxRootfs } from './busybox-rootfs.ts'
import { exitOf } from './scene.ts'
import { vmSpec } from './spec.ts'
import type { VmSpecInput } from './spec.ts'

/** A temporary directory with an image, and real VMs in it. */
export class QemuBench {
  readonly directory: string
  readonly context: PlanContext
  readonly rootfsPath: string
  readonly problems: string[] = []

  constructor(directory: string, context: PlanContext, rootfsPath: string) {
    this.directory = directory
    this.context = context
    this.rootfsPath = rootfsPath
  }

  get instancesDirectory(): string {
    return path.join(this.directory, 'instances')
  }

  /** The programs of waiting keepers. */
  get keeperPrograms(): { readonly keeperPath: string; readonly vmmPath: string } {
    const { assets, facts } = this.context
    return { keeperPath: assets.keeperPath, vmmPath: facts.qemuPath }
  }

  open(more: Partial<QemuVmmOptions> = {}): QemuVmm {
    return new QemuVmm({ instancesDirectory: this.instancesDirectory, ...this.context, ...more })
  }

  templates(): TemplateStore {
    const directory = path.join(this.directory, 'templates')
    return new TemplateStore(this.context, directory, (message) => this.problems.push(message))
  }

  async spec(input: Partial<VmSpecInput> & Pick<VmSpecInput, 'argv'>): Promise<VmSpec> {
    const { instancesDirectory: directory, rootfsPath } = this
    return await vmSpec({ directory, rootfsPath, instanceUuid: randomUUID(), ...input })
  }

  /** Runs an application to its end. Returns how it ended and what it printed. */
  async run(
    vmm: QemuVmm,
    input: Partial<VmSpecInput> & Pick<VmSpecInput, 'argv'>,
  ): Promise<{ exit: ExitReport; console: string; spec: VmSpec }> {
    const spec = await this.spec(input)
    await vmm.start(spec)
    const exit = await exitOf(vmm, spec)
    const console = await this.consoleOf(spec)
    await vmm.forget(spec)
    return { exit, console, spec }
  }

  async consoleOf(name: VmName): Promise<string> {
    const directory = path.join(this.instancesDirectory, name.instanceUuid, 'console')
    const names = (await readdir(directory)).toSorted()
    const segments = await Promise.all(
      names.map(async (file) => await readFile(path.join(directory, file), 'utf8')),
    )
    return segments.join('')
  }

  async eventOf(name: VmName, what: string): Promise<VmEvent | undefined> {
    const file = path.join(this.instancesDirectory, name.instanceUuid, 'vm/events')
    return findEvent(parseVmEvents(await readFile(file, 'utf8')), what)
  }

  async pidOf(name: VmName, what: 'qemu' | 'keeper'): Promise<number> {
    return Number((await this.eventOf(name, what))?.words[0])
  }

  /** Also ends the VMs that a failed test has left running. */
  async close(): Promise<void> {
    const vmm = this.open()
    for (const left of await vmm.recover()) {
      await vmm.kill(left, 'forced')
      await vmm.forget(left)
    }
    await vmm.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}

export async function openQemuBench(addToRootfs?: (root: string) => Promise<void>): Promise<QemuBench> {
  const directory = await mkdtemp(path.join(tmpdir(), 'roost-qemu-'))
  const assets = await readGuestAssets(requireInstalled(readInstalled(), 'guestDirectory'))
  const context: PlanContext = { facts: await readHostFacts(), assets, accelerator: 'tcg' }
  return new QemuBench(directory, context, await makeBusyboxRootfs(directory, addToRootfs))
}

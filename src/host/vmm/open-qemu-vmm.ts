import { usableMemoryMb } from '../../domain/host/memory-room.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import { ControlGroups, enterByKeeper } from './control-groups.ts'
import { readGuestAssets } from './guest-assets.ts'
import type { GuestAssets } from './guest-assets.ts'
import { readHostFacts } from './host-facts.ts'
import type { HostFacts } from './host-facts.ts'
import { findJailGaps } from './jail-probe.ts'
import { kvmVerdict } from './kvm-probe.ts'
import type { PlanContext } from './machine-plan.ts'
import { QemuVmm } from './qemu-vmm.ts'
import { clearTemplates, TemplateStore } from './template-store.ts'

export interface OpenQemuVmm {
  readonly instancesDirectory: string
  /** The directory with what `guest/build.mjs` made. */
  readonly guestDirectory: string
  /** The directory in which the verdict about KVM is kept between starts of the agent. */
  readonly cacheDirectory: string
  /** The host's memory. If absent, the number of VMs is not bounded. */
  readonly memory?: HostMemory
  readonly acceleration: 'auto' | 'kvm' | 'tcg'
  /** The directory for the device state of templates. If absent, no start continues from a template. */
  readonly templateDirectory?: string
  /** The file of the host's term. If absent, VMs keep none. */
  readonly termPath?: string
  /** Called with a message about each failure that was worked around. */
  readonly onProblem?: (message: string) => void
  readonly qemuPath?: string
}

/**
 * Opens the VMM of this host. Reads which QEMU and which guest are installed, and probes KVM unless the
 * settings ask for emulation.
 */
export async function openQemuVmm(options: OpenQemuVmm): Promise<QemuVmm> {
  const facts = await readHostFacts(options.qemuPath)
  const assets = await readGuestAssets(options.guestDirectory)
  const accelerator = await chooseAccelerator(options, facts, assets)
  const context = { facts, assets, accelerator }
  const groups = facts.isRoot ? await openGroups(options, assets) : undefined
  const gaps = await findJailGaps(facts, assets)
  if (gaps.length > 0) {
    options.onProblem?.(
      `virtual machines are less isolated from this host than they could be: they have no ${gaps.join(', no ')} of their own, because this container may not make them`,
    )
  }
  const templates = await openTemplates(options, context, groups)
  return new QemuVmm({
    instancesDirectory: options.instancesDirectory,
    ...context,
    ...(options.memory === undefined ? {} : { memory: options.memory }),
    ...(groups === undefined ? {} : { groups }),
    ...(templates === undefined ? {} : { templates }),
    ...(options.termPath === undefined ? {} : { termPath: options.termPath }),
    ...(options.onProblem === undefined ? {} : { onProblem: options.onProblem }),
  })
}

async function openGroups(
  { instancesDirectory, memory, onProblem }: OpenQemuVmm,
  { keeperPath }: GuestAssets,
): Promise<ControlGroups> {
  return await ControlGroups.open({
    agentDirectory: instancesDirectory,
    ...(memory === undefined ? {} : { memoryMb: usableMemoryMb(memory) }),
    tryToEnter: async (directories) => await enterByKeeper(keeperPath, directories),
    ...(onProblem === undefined ? {} : { onProblem }),
  })
}

async function openTemplates(
  options: OpenQemuVmm,
  context: PlanContext,
  groups: ControlGroups | undefined,
): Promise<TemplateStore | undefined> {
  const { templateDirectory, onProblem } = options
  if (templateDirectory === undefined) return undefined
  await clearTemplates(templateDirectory)
  return new TemplateStore(context, templateDirectory, onProblem, groups)
}

/**
 * If KVM was asked for but can not be used, this throws, because emulation would be slow without anybody
 * knowing why.
 */
async function chooseAccelerator(
  options: OpenQemuVmm,
  facts: HostFacts,
  assets: GuestAssets,
): Promise<'kvm' | 'tcg'> {
  if (options.acceleration === 'tcg') return 'tcg'
  const verdict = await kvmVerdict(facts, assets, options.cacheDirectory)
  if (verdict.usable) return 'kvm'
  if (options.acceleration === 'kvm') throw new Error(`KVM is asked for but does not work: ${verdict.reason}`)
  return 'tcg'
}

import { readGuestAssets } from '../host/vmm/guest-assets.ts'
import { readHostFacts } from '../host/vmm/host-facts.ts'
import { kvmVerdict } from '../host/vmm/kvm-probe.ts'
import type { KvmVerdict } from '../host/vmm/kvm-probe.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'

/** The same probe that an agent makes at its start. It shares the agent's record of the verdict. */
export async function probeKvm(cacheDirectory: string): Promise<KvmVerdict> {
  const assets = await readGuestAssets(requireInstalled(readInstalled(), 'guestDirectory'))
  return await kvmVerdict(await readHostFacts(), assets, cacheDirectory)
}

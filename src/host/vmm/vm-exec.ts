import { ExecRefused } from '../exec/exec-session.ts'
import type { ExecRequest, ExecSession } from '../exec/exec-session.ts'
import type { GuestLinks } from '../exec/guest-links.ts'
import type { VmHandle } from './vm-handle.ts'

export const ownKernelRefusal =
  "the instance runs a kernel of its own, and only the platform's kernel has what runs programs"

/** Throws `ExecRefused` if no program can be run in the VM. */
export async function execIn(
  links: GuestLinks,
  vm: VmHandle | undefined,
  request: ExecRequest,
): Promise<ExecSession> {
  if (vm === undefined || vm.isOver || vm.status.started === undefined)
    throw new ExecRefused('not-running', 'the instance does not run')
  if (vm.record.guest === 'kernel') throw new ExecRefused('unable', ownKernelRefusal)
  return await links.open(vm.directory, request)
}

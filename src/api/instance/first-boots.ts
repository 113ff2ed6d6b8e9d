import { setTimeout as delay } from 'node:timers/promises'
import { InstanceState } from '../../domain/instance/state.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { NodeUnavailable, maxFirstBoots } from '../../control/host-client.ts'
import { Counts } from '../../primitives/counts.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * The most first boots of one user that this process has under way at hosts, a quarter of all. Boots beyond
 * that begin when their workflows ask for them, in the users' turns.
 */
const mostOfOneUser = maxFirstBoots / 4

/**
 * By how much first boots come before the starts of their workflows, if the client waits for the instances.
 * Until a VM runs, its host needs the processors, and on a small machine they are also the workflow's. It is
 * about the time from the commit to the VM.
 */
const headStartMs = 30

/** Waits for the head start of these first boots. It ends early once they are over. */
export async function headStart(boots: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(boots), delay(headStartMs, undefined, { ref: false })])
}

/**
 * Returns a function that has the host of a new instance begin the first boot at once, beside the start of
 * the workflow. That takes the workflow's first steps out of the time of a start. The function resolves when
 * the boot is over, and nothing depends on its success: the workflow asks the host for the same boot in any
 * case. When the host says that the instance is up, those who wait for it look again.
 *
 * It must be called right after the row was committed. Then no command about the instance is older than the
 * request to the host, and the host ignores a request that comes after such a command.
 */
export function createFirstBoots(
  deps: Pick<ApiDeps, 'nodes' | 'watch'>,
): (call: Pick<Call, 'log'>, row: InstanceRow) => Promise<void> {
  const underWay = new Counts()

  async function begin(call: Pick<Call, 'log'>, { uuid, nodeId, userUuid }: InstanceRow): Promise<void> {
    underWay.add(userUuid)
    try {
      if (await deps.nodes.beginFirstBoot({ uuid, nodeId })) deps.watch.lookAgain(uuid)
    } catch (error) {
      if (!(error instanceof NodeUnavailable)) throw error
      call.log.debug({ err: error, instance: uuid }, 'the host did not begin the first boot at once')
    } finally {
      underWay.remove(userUuid)
    }
  }

  return async (call, row) => {
    if (row.state !== InstanceState.Starting) return
    if (underWay.all >= maxFirstBoots || underWay.of(row.userUuid) >= mostOfOneUser) return
    await begin(call, row).catch((error: unknown) => call.log.error({ err: error }, 'a first boot failed'))
  }
}

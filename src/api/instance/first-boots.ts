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
 * Returns a function that has the host of a new instance begin the first boot at once, beside the start of
 * the workflow. That takes the workflow's first steps out of the time of a start. The function does not
 * wait, and nothing depends on its success: the workflow asks the host for the same boot in any case. When
 * the host says that the instance is up, those who wait for it look again.
 *
 * It must be called right after the row was committed. Then no command about the instance is older than the
 * request to the host, and the host ignores a request that comes after such a command.
 */
export function createFirstBoots(
  deps: Pick<ApiDeps, 'nodes' | 'watch'>,
): (call: Pick<Call, 'log'>, row: InstanceRow) => void {
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

  return (call, row) => {
    if (row.state !== InstanceState.Starting) return
    if (underWay.all >= maxFirstBoots || underWay.of(row.userUuid) >= mostOfOneUser) return
    begin(call, row).catch((error: unknown) => call.log.error({ err: error }, 'a first boot failed'))
  }
}

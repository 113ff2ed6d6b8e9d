import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { ActivityOptions } from '@temporalio/workflow'
import type { RetryPolicy } from '@temporalio/common'
import { HostFailure } from '../../src/domain/instance/host-work.ts'
import type { VolumeActivities } from '../../src/domain/instance/host-work.ts'
import { VolumeWork } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeLifeEvent } from '../../src/domain/volume/lifecycle.ts'
import type { WorkCalls } from '../entity-worker.ts'
import { hostFailureOf, nodeCallOptions, patiently } from '../host-calls.ts'
import type { NodeAddress } from '../host-calls.ts'

/**
 * The longest making of a volume. It takes milliseconds for a volume of any size, unless the disk is very
 * busy.
 */
const longestMakeMs = 120_000
/** The longest repair: a complete check of a terabyte full of small files. */
const longestRepairMs = 7_200_000
/** The longest removal. Six hours are enough to overwrite a terabyte at 50 MB/s. */
const longestRemoveMs = 21_600_000

/**
 * The retries of work for which an owner or an operator waits: after 1, 3, 7, 15, 30, 45 and 60 s. Within
 * that time disk space may become free, or a VM may release the volume.
 */
const forAMinute: RetryPolicy = {
  initialInterval: '1s',
  backoffCoefficient: 2,
  maximumInterval: '15s',
  maximumAttempts: 8,
  nonRetryableErrorTypes: [HostFailure.VolumeUnusable],
}

interface SizedVolume {
  readonly volumeUuid: string
  readonly sizeMb: number
}
interface CalledVolume extends SizedVolume {
  /** The host where the volume is now. */
  readonly nodeId: () => string
}
type VolumeAddress = SizedVolume & NodeAddress

export function volumeCalls({
  volumeUuid,
  sizeMb,
  nodeId,
}: CalledVolume): WorkCalls<VolumeWork, VolumeLifeEvent> {
  return {
    perform: async (work, nodeAway) => [
      await calls[work]({ volumeUuid, sizeMb, nodeId: nodeId(), nodeAway }),
    ],
    eventOfFailure: (work, error) => eventOfFailure(work, { error, nodeId: nodeId() }),
    nameOf: (work) => work,
  }
}

const calls = {
  async [VolumeWork.Make](at) {
    const host = hostFor(VolumeWork.Make, at, { startToCloseTimeout: longestMakeMs, retry: forAMinute })
    await host.makeVolume({ volumeUuid: at.volumeUuid, sizeMb: at.sizeMb })
    return { kind: 'made' }
  },
  async [VolumeWork.Repair](at) {
    const host = hostFor(VolumeWork.Repair, at, { startToCloseTimeout: longestRepairMs, retry: forAMinute })
    await host.repairVolume({ volumeUuid: at.volumeUuid })
    return { kind: 'repaired' }
  },
  /**
   * A removal is repeated until it succeeds. It fails as long as a VM has the volume, but that VM is about
   * to end.
   */
  async [VolumeWork.Remove](at) {
    const host = hostFor(VolumeWork.Remove, at, { startToCloseTimeout: longestRemoveMs, retry: patiently })
    await host.removeVolume({ volumeUuid: at.volumeUuid })
    return { kind: 'removed' }
  },
} satisfies Record<VolumeWork, (at: VolumeAddress) => Promise<VolumeLifeEvent>>

/**
 * When work is called off, it is over only when the host has ended it. No other work on the volume begins
 * before that.
 */
function hostFor(work: VolumeWork, at: VolumeAddress, options: ActivityOptions): VolumeActivities {
  return proxyActivities<VolumeActivities>({
    ...nodeCallOptions(at, work),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    ...options,
  })
}

function eventOfFailure(
  work: VolumeWork,
  { error, nodeId }: { readonly error: unknown; readonly nodeId: string },
): VolumeLifeEvent | undefined {
  if (work === VolumeWork.Remove) return undefined
  const { failure, message } = hostFailureOf(error)
  const unforeseen = `host ${nodeId} did not get it done (${message ?? 'for no reason it knows'}); its log says more`
  const reason = failure !== undefined && message !== undefined ? message : unforeseen
  if (work === VolumeWork.Make) return { kind: 'make-failed', reason }
  return failure === HostFailure.VolumeInUse
    ? { kind: 'repair-not-begun' }
    : { kind: 'repair-failed', reason }
}

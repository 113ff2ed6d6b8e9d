import { CancellationScope } from '@temporalio/workflow'

/** Carries out work, one piece at a time. */
export interface OneWork<Work> {
  /**
   * Begins the wanted work, or calls off what is under way in its stead; `onDone` then is the time to ask
   * again.
   */
  align(work: Work | undefined): void
  readonly busy: boolean
}

/** `carryOut` never rejects, also where it is called off. */
export function createOneWork<Work>(of: {
  readonly carryOut: (work: Work) => Promise<void>
  /** Nothing is under way any more. */
  readonly onDone: () => void
  /** Whether what is under way is what is wanted; absent: where it is the same value. */
  readonly isSame?: (underWay: Work, wanted: Work) => boolean
}): OneWork<Work> {
  const isSame = of.isSame ?? ((one, other) => one === other)
  let underWay: { readonly scope: CancellationScope; readonly work: Work } | undefined

  async function launch(work: Work): Promise<void> {
    const scope = new CancellationScope()
    underWay = { scope, work }
    await scope.run(() => of.carryOut(work))
    underWay = undefined
    of.onDone()
  }

  return {
    align(work) {
      if (underWay === undefined) {
        if (work !== undefined) void launch(work)
      } else if (work === undefined || !isSame(underWay.work, work)) underWay.scope.cancel()
    },
    get busy() {
      return underWay !== undefined
    },
  }
}

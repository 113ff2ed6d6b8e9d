import { VolumeError } from './volumes.ts'

/** What is being done with a volume, as a word that follows "it is being". */
export type VolumeTask = 'made' | 'checked' | 'repaired' | 'erased' | 'moved'

/**
 * For each task, the tasks under way for which it waits; any other task under way makes it fail. Making is
 * short, so all tasks wait for it, and so are the steps of a move. A repair and an erasure also wait for
 * one of their own kind: it is most likely the same request, made again. A check is long and fails beside
 * another check.
 */
const waitsFor = {
  made: ['made', 'moved'],
  checked: ['made', 'moved'],
  repaired: ['made', 'moved', 'repaired'],
  erased: ['made', 'moved', 'erased'],
  moved: ['made', 'moved', 'erased'],
} satisfies Record<VolumeTask, readonly VolumeTask[]>

/**
 * Runs one task at a time on each volume. A task that would have to wait long is refused, because its caller
 * knows better when to try again.
 */
export class VolumeTurns {
  readonly #underWay = new Map<string, { readonly task: VolumeTask; readonly over: Promise<unknown> }>()

  async run<Result>(
    uuid: string,
    task: VolumeTask,
    { work, signal }: { readonly work: () => Promise<Result>; readonly signal?: AbortSignal | undefined },
  ): Promise<Result> {
    for (;;) {
      signal?.throwIfAborted()
      const other = this.#underWay.get(uuid)
      // There is no `await` from here to the line that records this task. So if two tasks have waited, only
      // one continues.
      if (other === undefined) break
      const waits: readonly VolumeTask[] = waitsFor[task]
      if (!waits.includes(other.task))
        throw new VolumeError('VolumeInUse', `the volume is being ${other.task}`)
      await orAborted(other.over, signal)
    }
    const result = work()
    this.#underWay.set(uuid, { task, over: result.catch(() => undefined) })
    try {
      return await result
    } finally {
      this.#underWay.delete(uuid)
    }
  }
}

async function orAborted(over: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return void (await over)
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    void over.then(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
  })
}

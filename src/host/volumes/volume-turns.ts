import { VolumeError } from './volumes.ts'

/** What is being done with a volume, in words that follow "it is being". */
export type VolumeTask = 'made' | 'checked' | 'repaired' | 'erased'

/**
 * The tasks that each task waits for. A caller who asks for the task that is under way waits for its end.
 * Making is short, so all tasks wait for it.
 */
const waitsFor = {
  made: ['made'],
  checked: ['made'],
  repaired: ['made', 'repaired'],
  erased: ['made', 'erased'],
} satisfies Record<VolumeTask, readonly VolumeTask[]>

/**
 * Runs one task at a time on each volume. A task that would have to wait long is refused: its caller knows
 * better when to try again.
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
      // There is no `await` from here to the note of our own turn, so of two that waited only one goes on.
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

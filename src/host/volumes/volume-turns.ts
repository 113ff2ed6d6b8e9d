import { VolumeError } from './volumes.ts'

/** What is being done with a volume, in words that follow "it is being". */
export type VolumeTask = 'made' | 'checked' | 'repaired' | 'erased'

/** Whoever asks for the same waits for it and finds it done; making is short, so everybody waits for that. */
const waitsFor = {
  made: ['made'],
  checked: ['made'],
  repaired: ['made', 'repaired'],
  erased: ['made', 'erased'],
} satisfies Record<VolumeTask, readonly VolumeTask[]>

/**
 * One task at a time on each volume. What would wait long is refused instead: its caller knows better when to
 * come again.
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
      // No await from here to the note of our own turn: of two that waited, one goes on.
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

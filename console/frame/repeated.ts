import { useEffect, useState } from 'preact/hooks'
import { pause } from '../../src/client/pause.ts'
import { isSessionEnd, sentenceOf } from './api.ts'

export interface Repeated<T> {
  /** What was read last; undefined before the first answer. */
  readonly known: T | undefined
  /** Why the last reading failed, as a sentence. */
  readonly problem: string | undefined
}

/** Reads something again and again while the page shows, and at once when one of `inputs` changes. */
export function useRepeated<T>(
  read: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
  inputs: readonly unknown[],
): Repeated<T> {
  const [known, setKnown] = useState<T>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    const readOn = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        try {
          const present = await read(ended.signal)
          setKnown(() => present)
          setProblem(undefined)
        } catch (error) {
          if (ended.signal.aborted || isSessionEnd(error)) return
          setProblem(sentenceOf(error))
        }
        await pause(everyMs, ended.signal)
      }
    }
    void readOn()
    return () => ended.abort()
  }, inputs)
  return { known, problem }
}

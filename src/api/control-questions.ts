import { ControlUnavailable } from '../control/control-unavailable.ts'

export type ControlAnswer<T> = { readonly isSilent: false; readonly value: T } | { readonly isSilent: true }

/**
 * Asks workflows for what only they know, for one request. After the first question that nobody answered none
 * is asked any more, so a request about a hundred objects waits for a silent control plane once.
 */
export function controlQuestions<T>(
  ask: (uuid: string) => Promise<T>,
  noteSilence: (error: ControlUnavailable) => void,
): (uuid: string) => Promise<ControlAnswer<T>> {
  let isSilent = false
  return async (uuid) => {
    if (isSilent) return { isSilent }
    try {
      return { isSilent: false, value: await ask(uuid) }
    } catch (error) {
      if (!(error instanceof ControlUnavailable)) throw error
      if (!isSilent) noteSilence(error)
      isSilent = true
      return { isSilent }
    }
  }
}

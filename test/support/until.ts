import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 50

/**
 * Polls `look`, and resolves with the first result that is neither false nor undefined. It is for facts that
 * give no event, such as files of another process. If there is an event, await it instead.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  options: { readonly limitMs: number },
): Promise<Exclude<T, false | undefined>> {
  const deadlineMs = performance.now() + options.limitMs
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== undefined) return seen as Exclude<T, false | undefined>
    if (performance.now() > deadlineMs) throw new Error(`not within ${options.limitMs / 1000} s: ${what}`)
    await delay(pollMs)
  }
}

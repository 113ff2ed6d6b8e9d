import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 50

/**
 * For what can only be looked at, such as another process's files: resolves with the first result that is
 * neither false nor undefined. Where an event can be awaited, await that.
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

import { Resolver } from 'node:dns/promises'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Returns the texts of a name's TXT records: empty if the name has none or does not exist, undefined if DNS
 * did not say.
 */
export type TextLookup = (name: string) => Promise<readonly string[] | undefined>

/** The caller waits for the answer, so the time is short. */
export const textLookupLimitMs = 3_000
const questionTimeoutMs = 1_000
const tries = 2

/** Asks a server at `address:port`, or the machine's servers. Takes a bounded time and never rejects. */
export function createTextLookup(server?: string): TextLookup {
  return async (name) => {
    const resolver = new Resolver({ timeout: questionTimeoutMs, tries })
    if (server !== undefined) resolver.setServers([server])
    const answered = new AbortController()
    try {
      // The resolver asks several servers of a machine one after the other, each `tries` times.
      return await Promise.race([
        textsOf(resolver, name),
        wait(textLookupLimitMs, undefined, { signal: answered.signal, ref: false }),
      ])
    } finally {
      answered.abort()
      resolver.cancel()
    }
  }
}

async function textsOf(resolver: Resolver, name: string): Promise<readonly string[] | undefined> {
  try {
    // A text of more than 255 bytes comes in pieces.
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    return absent.has((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined
  }
}

const absent: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND'])

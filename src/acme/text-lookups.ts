import { Resolver } from 'node:dns/promises'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Returns the texts of a name's TXT records. The list is empty if the name has none or does not exist. The
 * result is undefined if DNS did not answer.
 */
export type TextLookup = (name: string) => Promise<readonly string[] | undefined>

/** The time limit of one lookup. It is short because the caller waits for the answer. */
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
      // The resolver alone could take longer: it asks the servers of a machine one after the other, each
      // `tries` times.
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
    // DNS splits a text of more than 255 bytes into pieces.
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    return absent.has((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined
  }
}

const absent: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND'])

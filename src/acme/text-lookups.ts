import { Resolver } from 'node:dns/promises'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * The texts of a name's TXT records; empty where it has none or is not there, undefined where DNS did not
 * say.
 */
export type TextLookup = (name: string) => Promise<readonly string[] | undefined>

/** Who asked for something waits for the answer. */
export const textLookupLimitMs = 3_000
const questionTimeoutMs = 1_000
const tries = 2

/** Looks at a server at `address:port`, or those of the machine. Takes a bounded time and never rejects. */
export function createTextLookup(server?: string): TextLookup {
  return async (name) => {
    const resolver = new Resolver({ timeout: questionTimeoutMs, tries })
    if (server !== undefined) resolver.setServers([server])
    const answered = new AbortController()
    try {
      // Several servers of a machine are asked one after the other, each so often.
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

/** Like a request of a test: many cold starts at once take a while under emulation. */
const defaultLimitMs = 60_000

/**
 * Resolves as `awaited` does. Throws an error that names `what` if that takes longer than the limit. So a
 * hang tells what it waited for, which the limit of the whole test would not.
 */
export async function inTime<T>(what: string, awaited: Promise<T>, limitMs = defaultLimitMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limitMs / 1000} s: ${what}`)), limitMs)
  })
  try {
    return await Promise.race([awaited, over])
  } finally {
    clearTimeout(timer)
  }
}

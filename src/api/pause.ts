/** Waits for `ms`, or until `ended` aborts or `unless` resolves. Leaves no timer or listener behind. */
export async function pause(ms: number, ended: AbortSignal, unless?: Promise<void>): Promise<void> {
  if (ms <= 0 || ended.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const finish = () => resolve()
  ended.addEventListener('abort', finish)
  await Promise.race(unless === undefined ? [promise] : [promise, unless])
  ended.removeEventListener('abort', finish)
  clearTimeout(timer)
}

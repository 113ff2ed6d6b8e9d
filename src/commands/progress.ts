import type { Session } from './session.ts'

const stepMs = 200
const frames = ['|', '/', '-', '\\']

/**
 * Shows on a terminal's last line that something takes its time, while `work` is under way. Where nobody
 * looks, nothing is written.
 */
export async function withProgress<T>(
  { deps, wantsJson }: Session,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (!deps.showsProgress || wantsJson) return await work()
  const startedAt = Date.now()
  let frame = 0
  const timer = setInterval(() => {
    frame += 1
    const seconds = Math.floor((Date.now() - startedAt) / 1000)
    deps.note(`\r\u001B[K${frames[frame % frames.length]} ${text()} (${seconds} s)`)
  }, stepMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    deps.note('\r\u001B[K')
  }
}

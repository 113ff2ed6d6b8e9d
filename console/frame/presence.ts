import { signal } from '@preact/signals'

/**
 * Whether somebody may look at the page. A page that is hidden for some seconds, or that the browser keeps
 * for its back button, needs no stream: browsers open six connections to a server over HTTP/1.1, over all
 * its pages, and each stream takes one.
 */
export const isPresent = signal(true)

const hiddenMs = 10_000

export function watchPresence(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const come = (): void => {
    clearTimeout(timer)
    isPresent.value = true
  }
  const leave = (): void => {
    clearTimeout(timer)
    isPresent.value = false
  }
  addEventListener('pagehide', leave)
  addEventListener('pageshow', come)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) timer = setTimeout(leave, hiddenMs)
    else come()
  })
}

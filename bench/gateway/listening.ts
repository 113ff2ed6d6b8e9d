import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const limitMs = 10_000
const pollMs = 25

/**
 * Resolves when a process accepts connections on the port. Throws if that takes too long, or if `ended`
 * returns true, which means that it will never happen.
 */
export async function untilListens(port: number, ended: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + limitMs
  while (Date.now() < deadlineMs && !ended()) {
    if (await accepts(port)) return
    await delay(pollMs)
  }
  throw new Error(`nothing listens on port ${port}`)
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

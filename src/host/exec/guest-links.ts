import { closeSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ExecRefused } from './exec-session.ts'
import type { ExecRequest, ExecSession } from './exec-session.ts'
import { checkRequest, greetGuest, tooOldRefusal } from './guest-link.ts'
import type { GuestLink } from './guest-link.ts'

/** The guest starts its exec server when the host connects. A guest on a busy host needs a while. */
const greetLimitMs = 4_000
const greetTries = 3
/** A guest whose host was away for this long has noticed it. */
const pauseMs = 250
/** A connection without sessions is kept for this long, so that one command after the other is quick. */
const idleMs = 5_000

/** The connections to the exec servers of one host's guests, by the directory of their VM. */
export class GuestLinks {
  readonly #links = new Map<string, Promise<GuestLink>>()

  /** Throws `ExecRefused` if the guest takes no session. */
  async open(directory: string, request: ExecRequest): Promise<ExecSession> {
    checkRequest(request)
    const link = await this.#link(directory)
    return link.open(request)
  }

  close(): void {
    for (const opening of this.#links.values())
      void opening.then(
        (link) => link.close(),
        () => undefined,
      )
  }

  async #link(directory: string): Promise<GuestLink> {
    const known = this.#links.get(directory)
    if (known !== undefined) {
      const link = await known
      if (!link.isClosed) return link
    }
    const opening = connectGuest(directory)
    this.#links.set(directory, opening)
    const forget = () => {
      if (this.#links.get(directory) === opening) this.#links.delete(directory)
    }
    opening.then((link) => {
      link.once('close', forget)
      closeWhenIdle(link)
    }, forget)
    return await opening
  }
}

function closeWhenIdle(link: GuestLink): void {
  link.on('idle', () => {
    setTimeout(() => {
      if (link.sessions === 0) link.close()
    }, idleMs).unref()
  })
}

async function connectGuest(directory: string): Promise<GuestLink> {
  for (let tried = 1; tried <= greetTries; tried++) {
    const socket = await connectSocket(directory)
    if (socket === undefined) throw new ExecRefused('unable', tooOldRefusal)
    const link = await greetGuest(socket, greetLimitMs)
    if (link !== undefined) return link
    await delay(pauseMs)
  }
  throw new ExecRefused('not-running', 'the instance does not answer')
}

/** The path goes through a descriptor for the reason that `connectKeeper` has. */
async function connectSocket(directory: string): Promise<Socket | undefined> {
  let descriptor: number
  try {
    descriptor = openSync(directory, 'r')
  } catch {
    return undefined
  }
  const socket = connect({ path: `/proc/self/fd/${descriptor}/exec.sock` })
  try {
    return await new Promise((resolve) => {
      socket.once('connect', () => resolve(socket))
      // The end of the VM resets the connection, and `close` follows.
      socket.on('error', () => resolve(undefined))
    })
  } finally {
    closeSync(descriptor)
  }
}

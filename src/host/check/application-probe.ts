import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { CheckResult, InstanceCheck } from '../../domain/rollout/check.ts'

/** Where an application is, and who wants to know no more whether it answers. */
export interface ProbedPlace {
  /** The address and the port to which the host connects. */
  readonly host: string
  readonly port: number
  /**
   * The instance's private address. If `host` is another address, QEMU listens there: it accepts a
   * connection in any case, and closes it if nothing listens in the guest.
   */
  readonly privateIp: string
  /**
   * Whether the instance came up just now. Then a port where nothing listens is tried again for the time of
   * the check: without that, an instance that sleeps between two checks might never pass one.
   */
  readonly isComingUp?: boolean
  readonly signal: AbortSignal
}

/** The most bytes of an answer's headers, as of what clients send to the gateway. */
const maxHeaderBytes = 16_384
/**
 * The most of an answer's body that is read, and the longest time for it. Nothing is done with the body; an
 * application whose small answer was taken does not log that its client went away.
 */
const maxBodyBytes = 65_536
const bodyLimitMs = 200
/** The most answers with a status below 200 before the one that counts. */
const maxInterimAnswers = 8
/** How long QEMU takes at most to hear from a guest that nothing listens there. */
const forwardSettleMs = 200
const againMs = 50
const defaultHttpPort = 80

const good: CheckResult = { ok: true }

/** Looks once whether an application answers. Throws only what `signal` aborts with. */
export async function probeApplication(place: ProbedPlace, check: InstanceCheck): Promise<CheckResult> {
  const limit = AbortSignal.timeout(check.timeoutMs)
  const signal = AbortSignal.any([limit, place.signal])
  for (;;) {
    try {
      return await look({ ...place, signal }, check)
    } catch (error) {
      place.signal.throwIfAborted()
      const why = whyNot(error, check, limit.aborted)
      if (place.isComingUp !== true || limit.aborted || !isRefused(error, place)) return { ok: false, why }
      await delay(againMs)
      place.signal.throwIfAborted()
      if (limit.aborted) return { ok: false, why }
    }
  }
}

async function look(place: ProbedPlace, check: InstanceCheck): Promise<CheckResult> {
  const { path } = check
  if (path !== undefined) return judge(check, await statusOf(place, { ...check, path }))
  await acceptsConnections(place)
  return good
}

function isRefused(error: unknown, { host, privateIp }: ProbedPlace): boolean {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED' || error instanceof NothingListens) return true
  return code === 'ECONNRESET' && host !== privateIp
}

/** Resolves once a connection was accepted. What the application then does with it does not matter. */
async function acceptsConnections({ host, port, privateIp, signal }: ProbedPlace): Promise<void> {
  const socket = connect({ host, port, signal })
  const closed = Promise.withResolvers<'closed'>()
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.on('close', () => closed.resolve('closed'))
      // An application that resets what it has just accepted does listen.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET' && host === privateIp) resolve()
        else reject(error)
      })
    })
    if (host === privateIp) return
    socket.resume()
    const settled = await Promise.race([closed.promise, delay(forwardSettleMs, 'open' as const)])
    if (settled === 'closed') throw new NothingListens()
  } finally {
    socket.destroy()
  }
}

async function statusOf(
  place: ProbedPlace,
  { port, path }: { readonly port: number; readonly path: string },
): Promise<number> {
  const request = httpRequest({
    host: place.host,
    port: place.port,
    path,
    agent: false,
    signal: place.signal,
    maxHeaderSize: maxHeaderBytes,
    headers: {
      host: port === defaultHttpPort ? place.privateIp : `${place.privateIp}:${String(port)}`,
      'user-agent': 'roost-check',
      accept: '*/*',
    },
  })
  try {
    const answer = await headOf(request)
    await dropBody(answer)
    return answer.statusCode ?? 0
  } finally {
    request.destroy()
  }
}

async function headOf(request: ClientRequest): Promise<IncomingMessage> {
  let interim = 0
  return await new Promise((resolve, reject) => {
    request.once('response', resolve)
    // An answer with status 101. What follows it is no HTTP.
    request.once('upgrade', (answer, socket) => {
      socket.destroy()
      resolve(answer)
    })
    request.on('information', () => {
      interim += 1
      if (interim > maxInterimAnswers) reject(new EndlessAnswer())
    })
    request.on('error', reject)
    request.end()
  })
}

async function dropBody(answer: IncomingMessage): Promise<void> {
  let bytes = 0
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, bodyLimitMs)
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBodyBytes) over.resolve()
  })
  answer.on('error', () => over.resolve())
  answer.once('close', over.resolve)
  await over.promise
  clearTimeout(timer)
}

function judge({ port, path = '', status }: InstanceCheck, answered: number): CheckResult {
  const isGood = status === undefined ? answered >= 200 && answered < 400 : answered === status
  if (isGood) return good
  const wanted = status === undefined ? 'a status from 200 to 399' : String(status)
  return {
    ok: false,
    why: `GET ${path} on port ${String(port)} answered ${String(answered)} instead of ${wanted}`,
  }
}

/** QEMU accepted a connection and closed it, because the guest did not accept it. */
class NothingListens extends Error {
  override readonly name = 'NothingListens'
}

/** An application sent one interim answer after the other. */
class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer'
}

function whyNot(error: unknown, { port, path, timeoutMs }: InstanceCheck, isLate: boolean): string {
  const place = `port ${String(port)}`
  const subject = path === undefined ? place : `GET ${path} on ${place}`
  const { code = '' } = error as NodeJS.ErrnoException
  if (isLate) return `${subject} did not answer within ${String(timeoutMs)} ms`
  if (code === 'ECONNREFUSED' || error instanceof NothingListens) return `nothing listens on ${place}`
  if (code === 'HPE_HEADER_OVERFLOW')
    return `${subject} answered with more than ${String(maxHeaderBytes)} bytes of headers`
  if (error instanceof EndlessAnswer)
    return `${subject} answered with more than ${String(maxInterimAnswers)} statuses below 200`
  if (code.startsWith('HPE_')) return `${subject} did not answer in HTTP/1.1 (${code})`
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return path === undefined
      ? `nothing listens on ${place}`
      : `${subject} got no answer: the connection was closed (${code})`
  return `${place} can not be reached${code === '' ? '' : ` (${code})`}`
}

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * A real Chromium without a window, which a test steers by the DevTools protocol. It trusts the authority
 * that the test gives it.
 */
export interface Browser {
  open(url: string): Promise<Page>
  close(): Promise<void>
}

export interface Page {
  /** Returns the value of an expression in the page. Waits for a promise. */
  evaluate<Value>(expression: string): Promise<Value>
  /** The text that a person reads on the page. */
  text(): Promise<string>
}

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

const startLimitMs = 30_000
const chromium = '/usr/bin/chromium'

export interface BrowserOptions {
  /** Names, with `*` where any label may stand, and the address that they lead to. */
  readonly names?: { readonly pattern: string; readonly address: string }
}

/**
 * Starts a browser that trusts the root certificate in `caFile` (PEM). All other checks stay as they are.
 */
export async function startBrowser(caFile: string, { names }: BrowserOptions = {}): Promise<Browser> {
  const home = mkdtempSync(path.join(tmpdir(), 'roost-browser-'))
  trust(home, caFile)
  const child = spawn(
    chromium,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      `--user-data-dir=${home}/profile`,
      '--remote-debugging-port=0',
      ...(names === undefined ? [] : [`--host-resolver-rules=MAP ${names.pattern} ${names.address}`]),
      'about:blank',
    ],
    { env: { ...process.env, HOME: home }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const socket = new WebSocket(await debuggerUrl(child.stderr))
  await once(socket, 'open')
  const call = caller(socket)
  return {
    async open(url) {
      const { targetId } = await call('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
      return await openPage(call, String(sessionId), url)
    },
    async close() {
      socket.close()
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Chromium reads the authorities that a user trusts from this database in its home. */
export function trust(home: string, caFile: string): void {
  const database = path.join(home, '.pki', 'nssdb')
  mkdirSync(database, { recursive: true })
  execFileSync('certutil', ['-N', '-d', `sql:${database}`, '--empty-password'])
  execFileSync('certutil', ['-A', '-d', `sql:${database}`, '-n', 'roost', '-t', 'C,,', '-i', caFile])
}

async function debuggerUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  let said = ''
  const signal = AbortSignal.timeout(startLimitMs)
  for (;;) {
    const [chunk] = (await once(stderr, 'data', { signal })) as [Buffer]
    said += chunk.toString('utf8')
    const url = /DevTools listening on (ws:\S+)/.exec(said)?.[1]
    if (url === undefined) continue
    stderr.resume()
    return url
  }
}

type Call = (
  method: string,
  params?: object,
  sessionId?: string,
) => Promise<Readonly<Record<string, unknown>>>

function caller(socket: WebSocket): Call {
  const waiting = new Map<number, (reply: Reply) => void>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
  })
  return async (method, params = {}, sessionId) => {
    const id = ++last
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    })
    waiting.delete(id)
    if (reply.error !== undefined) throw new Error(`${method}: ${reply.error.message}`)
    return reply.result ?? {}
  }
}

async function openPage(call: Call, sessionId: string, url: string): Promise<Page> {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const wanted = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await call('Runtime.evaluate', wanted, sessionId)
    if (exceptionDetails !== undefined) throw new Error(`in the page: ${JSON.stringify(exceptionDetails)}`)
    return (result as { readonly value: Value }).value
  }
  const { errorText } = await call('Page.navigate', { url }, sessionId)
  if (errorText !== undefined) throw new Error(`${url}: ${JSON.stringify(errorText)}`)
  await evaluate(
    `document.readyState === 'complete' || new Promise((done) => addEventListener('load', () => done(true)))`,
  )
  return { evaluate, text: () => evaluate<string>('document.body.innerText') }
}

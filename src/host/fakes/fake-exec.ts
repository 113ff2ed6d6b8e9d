import { maxGuestSessions, windowBytes } from '../exec/exec-frames.ts'
import { ExecRefused, ExecSession } from '../exec/exec-session.ts'
import type { ExecEnd, ExecRequest, TerminalSize } from '../exec/exec-session.ts'

const hangUp = 1

/**
 * Programs for the guests of fake VMs. They know some of what a shell and its companions do:
 *
 *   cat                    prints its input, and ends with it
 *   sleep N                waits for a signal
 *   stty size              prints the size of the terminal
 *   id -u                  prints the user's number, 0
 *   yes                    prints without an end
 *   sh -c 'exit N'         ends with this code; `kill -N $$` by this signal; `echo WORD` and `echo WORD >&2` print
 *
 * All others are not found.
 */
export class FakePrograms {
  readonly #sessions = new Set<FakeSession>()

  /** Throws `ExecRefused` like a guest that has as many programs as it takes. */
  run(request: ExecRequest): ExecSession {
    if (this.#sessions.size >= maxGuestSessions)
      throw new ExecRefused(
        'busy',
        `an instance runs at most ${maxGuestSessions} programs of users at a time`,
      )
    const session = new FakeSession(request)
    this.#sessions.add(session)
    session.once('end', () => this.#sessions.delete(session))
    setImmediate(() => session.begin())
    return session
  }

  /** The VM ends, and all its programs with it. */
  lose(): void {
    for (const session of this.#sessions)
      session.finish({ kind: 'lost', message: 'the instance ended, or closed the session' })
  }
}

class FakeSession extends ExecSession {
  readonly #request: ExecRequest
  #size: TerminalSize | undefined
  #left = windowBytes
  /** Output that has to wait until some was taken. */
  #waiting: Buffer[] = []
  #end: ExecEnd | undefined
  #over = false

  constructor(request: ExecRequest) {
    super()
    this.#request = request
    this.#size = request.terminal
  }

  begin(): void {
    const { argv } = this.#request
    const [name = '', ...rest] = argv
    if (!['cat', 'sleep', 'stty', 'id', 'yes', 'sh'].includes(name)) {
      this.finish({ kind: 'failed', code: 127, message: `${name}: No such file or directory` })
      return
    }
    this.emit('started')
    if (name === 'stty') this.#printSize()
    if (name === 'id') this.#print('stdout', '0\n')
    if (name === 'yes') this.#flood()
    if (name === 'sh') this.#script(rest[1] ?? '')
    if (name === 'stty' || name === 'id') this.#endAfterOutput({ kind: 'code', code: 0 })
  }

  override write(bytes: Buffer): void {
    if (this.#request.argv[0] === 'cat') this.#put('stdout', bytes)
    setImmediate(() => this.emit('inputTaken', bytes.length))
  }

  override endInput(): void {
    if (this.#request.argv[0] === 'cat') this.#endAfterOutput({ kind: 'code', code: 0 })
  }

  override outputTaken(bytes: number): void {
    this.#left += bytes
    if (this.#request.argv[0] === 'yes') this.#flood()
    const waiting = this.#waiting.splice(0)
    for (const each of waiting) this.#put('stdout', each)
    if (this.#waiting.length === 0 && this.#end !== undefined) this.finish(this.#end)
  }

  override resize(size: TerminalSize): void {
    this.#size = size
  }

  override signal(number: number): void {
    this.finish({ kind: 'signal', signal: number })
  }

  override close(): void {
    setImmediate(() => this.finish({ kind: 'signal', signal: hangUp }))
  }

  finish(end: ExecEnd): void {
    if (this.#over) return
    this.#over = true
    this.emit('end', end)
  }

  #script(text: string): void {
    for (const command of text.split(';').map((each) => each.trim())) {
      const [, word, toError] = /^echo (\w+)( >&2)?$/.exec(command) ?? []
      const [, code] = /^exit (\d+)$/.exec(command) ?? []
      const [, signal] = /^kill -(\d+) \$\$$/.exec(command) ?? []
      if (word !== undefined) this.#print(toError === undefined ? 'stdout' : 'stderr', `${word}\n`)
      if (command === 'stty size') this.#printSize()
      if (code !== undefined) return this.#endAfterOutput({ kind: 'code', code: Number(code) })
      if (signal !== undefined) return this.#endAfterOutput({ kind: 'signal', signal: Number(signal) })
    }
    this.#endAfterOutput({ kind: 'code', code: 0 })
  }

  #printSize(): void {
    const { rows, columns } = this.#size ?? { rows: 0, columns: 0 }
    this.#print('stdout', `${rows} ${columns}\n`)
  }

  #print(stream: 'stdout' | 'stderr', text: string): void {
    this.#put(stream, Buffer.from(this.#size === undefined ? text : text.replaceAll('\n', '\r\n')))
  }

  #put(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    if (this.#over || bytes.length === 0) return
    const now = bytes.subarray(0, this.#left)
    const later = bytes.subarray(now.length)
    this.#left -= now.length
    if (later.length > 0) this.#waiting.push(later)
    if (now.length > 0) this.emit('output', stream, now)
  }

  #flood(): void {
    while (this.#left > 0 && !this.#over)
      this.#put('stdout', Buffer.from('y\n'.repeat(this.#left / 2 + 1)).subarray(0, this.#left))
  }

  #endAfterOutput(end: ExecEnd): void {
    if (this.#waiting.length > 0) this.#end = end
    else setImmediate(() => this.finish(end))
  }
}

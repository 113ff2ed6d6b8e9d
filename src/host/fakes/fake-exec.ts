import { maxGuestConnections, maxGuestPrograms } from '../exec/exec-frames.ts'
import { ExecRefused } from '../exec/exec-session.ts'
import type { ExecRequest, ExecSession, ProgramRequest } from '../exec/exec-session.ts'
import { connectionsRefusal, programsRefusal } from '../exec/guest-link.ts'
import { FakeConnection } from './fake-connection.ts'
import { FakeCopy } from './fake-copy.ts'
import { FakeSession } from './fake-session.ts'

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
 * All others are not found. A copy keeps its archive, and a connection to port 7 gets back what it sends.
 */
export class FakePrograms {
  readonly #sessions = new Map<FakeSession, 'program' | 'connection'>()
  /** What was copied to each path, as a tar archive. */
  readonly archives = new Map<string, Buffer>()

  /** Throws `ExecRefused` like a guest that has as many programs or connections as it takes. */
  run(request: ExecRequest): ExecSession {
    const kind = request.type === 'connect' ? 'connection' : 'program'
    const open = [...this.#sessions.values()].filter((each) => each === kind).length
    if (open >= (kind === 'program' ? maxGuestPrograms : maxGuestConnections))
      throw new ExecRefused('busy', kind === 'program' ? programsRefusal : connectionsRefusal)
    const session = this.#sessionFor(request)
    this.#sessions.set(session, kind)
    session.once('end', () => this.#sessions.delete(session))
    setImmediate(() => session.begin())
    return session
  }

  /** The VM ends, and all its sessions with it. */
  lose(): void {
    for (const session of this.#sessions.keys())
      session.finish({ kind: 'lost', message: 'the instance ended, or closed the session' })
  }

  #sessionFor(request: ExecRequest): FakeSession {
    if (request.type === 'connect') return new FakeConnection(request)
    if (request.type === 'pack' || request.type === 'unpack') return new FakeCopy(request, this.archives)
    return new FakeProgram(request)
  }
}

class FakeProgram extends FakeSession {
  readonly #request: ProgramRequest

  constructor(request: ProgramRequest) {
    super(request)
    this.#request = request
    this.size = request.terminal
  }

  override begin(): void {
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
    if (name === 'stty' || name === 'id') this.endAfterOutput({ kind: 'code', code: 0 })
  }

  override write(bytes: Buffer): void {
    if (this.#request.argv[0] === 'cat') this.put('stdout', bytes)
    super.write(bytes)
  }

  override endInput(): void {
    if (this.#request.argv[0] === 'cat') this.endAfterOutput({ kind: 'code', code: 0 })
  }

  override outputTaken(bytes: number): void {
    super.outputTaken(bytes)
    if (this.#request.argv[0] === 'yes') this.#flood()
  }

  #script(text: string): void {
    for (const command of text.split(';').map((each) => each.trim())) {
      const [, word, toError] = /^echo (\w+)( >&2)?$/.exec(command) ?? []
      const [, code] = /^exit (\d+)$/.exec(command) ?? []
      const [, signal] = /^kill -(\d+) \$\$$/.exec(command) ?? []
      if (word !== undefined) this.#print(toError === undefined ? 'stdout' : 'stderr', `${word}\n`)
      if (command === 'stty size') this.#printSize()
      if (code !== undefined) return this.endAfterOutput({ kind: 'code', code: Number(code) })
      if (signal !== undefined) return this.endAfterOutput({ kind: 'signal', signal: Number(signal) })
    }
    this.endAfterOutput({ kind: 'code', code: 0 })
  }

  #printSize(): void {
    const { rows, columns } = this.size ?? { rows: 0, columns: 0 }
    this.#print('stdout', `${rows} ${columns}\n`)
  }

  #print(stream: 'stdout' | 'stderr', text: string): void {
    this.put(stream, Buffer.from(this.size === undefined ? text : text.replaceAll('\n', '\r\n')))
  }

  #flood(): void {
    this.put('stdout', Buffer.from('y\n'.repeat(this.room / 2 + 1)).subarray(0, this.room))
  }
}

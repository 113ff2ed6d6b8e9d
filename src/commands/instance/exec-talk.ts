import { constants } from 'node:os'
import type { RawData, WebSocket } from 'ws'
import { ExecClose, ExecStream, maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'
import type { ExecCommand, ExecNews, ExecStart } from '../../domain/instance/exec-protocol.ts'
import type { CommandDeps } from '../command-deps.ts'
import { CommandFailure } from '../command-failure.ts'

/** Input that is not sent yet beyond this number of bytes is not read. */
const maxUnsentBytes = 256 * 1024
/** What shells add to the number of the signal that ended a program. */
const signalled = 128
const maxInputBytes = maxExecMessageBytes - 1

interface TalkDeps extends Pick<CommandDeps, 'signal' | 'ending' | 'note'> {
  readonly terminal: Pick<CommandDeps['terminal'], 'input' | 'output' | 'errorOutput' | 'setRaw' | 'onResize'>
}

/** The talk between this process's terminal or streams and one program or copy in an instance. */
export class ExecTalk {
  readonly #socket: WebSocket
  readonly #deps: TalkDeps
  #code: number | undefined
  /** Why the program could not be run. It is told when the terminal is as before. */
  #failure: string | undefined
  /** Why this side has ended the connection. */
  #ended: string | undefined

  constructor(socket: WebSocket, deps: TalkDeps) {
    this.#socket = socket
    this.#deps = deps
  }

  /** Resolves with the exit code of the program. Throws `CommandFailure` if the connection ends before it. */
  async run(start: ExecStart): Promise<number> {
    const { terminal, signal } = this.#deps
    const hasTerminal = start.type === 'run' && start.terminal !== undefined
    const closed = this.#closed()
    this.#socket.on('message', (data, isBinary) => this.#take(data as Buffer & RawData, isBinary))
    this.#tell(start)
    const interrupt = () => this.#interrupt(hasTerminal)
    signal.addEventListener('abort', interrupt)
    const forgetSize = hasTerminal
      ? terminal.onResize((size) => this.#tell({ type: 'resize', ...size }))
      : undefined
    if (hasTerminal) terminal.setRaw(true)
    this.#readInput()
    if (signal.aborted) interrupt()
    try {
      return await closed
    } catch (error) {
      // What the program has shown last may be a prompt.
      if (hasTerminal) terminal.errorOutput.write('\r\n')
      throw error
    } finally {
      signal.removeEventListener('abort', interrupt)
      forgetSize?.()
      if (hasTerminal) terminal.setRaw(false)
      if (this.#failure !== undefined) this.#deps.note(`roost: ${this.#failure}\n`)
      // Otherwise the process would wait for input that nobody reads.
      terminal.input.destroy()
    }
  }

  /** At a terminal Ctrl-C is a key for the program, so a signal can only be about the command itself. */
  #interrupt(hasTerminal: boolean): void {
    if (!hasTerminal && !this.#deps.ending.aborted)
      return this.#tell({ type: 'signal', signal: constants.signals.SIGINT })
    this.#ended = 'the command was ended by a signal, and the program with it'
    this.#socket.terminate()
  }

  async #closed(): Promise<number> {
    return await new Promise((resolve, reject) => {
      this.#socket.on('error', () => undefined)
      this.#socket.once('close', (code, reason) => {
        if (this.#code !== undefined) return resolve(this.#code)
        const why = this.#ended ?? (reason.toString('utf8') || `the connection broke (${String(code)})`)
        const advice = code === ExecClose.NotRunning ? '\nIf it is stopped, `roost start` starts it.' : ''
        reject(new CommandFailure(why + advice))
      })
    })
  }

  #readInput(): void {
    const { input } = this.#deps.terminal
    input.on('error', () => undefined)
    input.once('end', () => this.#tell({ type: 'end_of_input' }))
    input.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at += maxInputBytes) {
        const piece = bytes.subarray(at, at + maxInputBytes)
        this.#socket.send(Buffer.concat([Buffer.from([ExecStream.Input]), piece]), () => {
          if (this.#socket.bufferedAmount <= maxUnsentBytes && !input.destroyed) input.resume()
        })
      }
      if (this.#socket.bufferedAmount > maxUnsentBytes) input.pause()
    })
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (!isBinary) return this.#hear(JSON.parse(data.toString('utf8')) as ExecNews)
    const { output, errorOutput } = this.#deps.terminal
    const to = data[0] === ExecStream.ErrorOutput ? errorOutput : output
    // Messages that had been received before the pause still come.
    if (to.write(data.subarray(1)) || this.#socket.isPaused) return
    this.#socket.pause()
    to.once('drain', () => this.#socket.resume())
  }

  #hear(news: ExecNews): void {
    if (news.type === 'failed') {
      this.#failure = news.message
      this.#code = news.code
    }
    if (news.type === 'exit') this.#code = 'code' in news ? news.code : signalled + news.signal
  }

  #tell(command: ExecCommand): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(command))
  }
}

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'

/** The bytes of a tool's error text that are kept. They are enough to see what the tool refused. */
const errorTextMaxBytes = 2_000

/** What a command printed, and how it ended. 126 and 127: the shell could not start it. */
export interface CommandEnd {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** The shell ended, or the command took too long. Nothing is known of the command. */
export class ShellGone extends Error {
  override readonly name = 'ShellGone'
}

interface Waiting {
  /** Ends what the command prints, on both streams. On the output, its exit code follows. */
  readonly mark: string
  output: string
  errors: string
  finish(end: CommandEnd): void
  fail(error: Error): void
}

/**
 * A shell that runs one command at a time. This process is large, and each start of a process copies its page
 * tables: 4 to 10 ms in which it does nothing else. The shell is small and needs 1 ms. It ends with this
 * process, because its input ends then.
 */
export class CommandShell {
  readonly #child: ChildProcess
  #waiting: Waiting | undefined
  #gone = false

  constructor() {
    // A process group of its own, so that a command that hangs can be killed with the shell. No part of our
    // environment, because it may hold secrets of the platform.
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
    this.#child = spawn('/bin/sh', [], { stdio: 'pipe', detached: true, cwd: '/', env })
    const { stdin, stdout, stderr } = this.#child
    stdin?.on('error', () => undefined)
    stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text, 'output'))
    stderr?.setEncoding('utf8').on('data', (text: string) => this.#hear(text, 'errors'))
    this.#child.once('error', (error) => this.#end(error))
    this.#child.once('close', () => this.#end(new Error('the shell for commands ended')))
    this.#hold(false)
  }

  get gone(): boolean {
    return this.#gone
  }

  /** Runs the command with `input`, whole lines, on its standard input. Throws `ShellGone`. */
  async run(command: readonly string[], input: string, limitMs: number): Promise<CommandEnd> {
    if (this.#gone) throw new ShellGone('the shell for commands ended')
    const mark = `roost-${randomUUID()}`
    this.#hold(true)
    const late = setTimeout(() => this.#kill(new Error(`no end within ${limitMs} ms`)), limitMs)
    try {
      return await new Promise<CommandEnd>((finish, fail) => {
        this.#waiting = { mark, output: '', errors: '', finish, fail }
        this.#child.stdin?.write(orderOf(command, input, mark))
      })
    } finally {
      clearTimeout(late)
      this.#hold(false)
    }
  }

  #hear(text: string, stream: 'output' | 'errors'): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    waiting[stream] += text
    const { mark, output, errors } = waiting
    const printed = output.lastIndexOf(`${mark} `)
    const complained = errors.lastIndexOf(`${mark}\n`)
    // A command may print without end. Only the mark at the end of its errors has to be kept.
    if (complained < 0 && errors.length > 2 * errorTextMaxBytes)
      waiting.errors = errors.slice(0, errorTextMaxBytes) + errors.slice(-mark.length)
    if (printed < 0 || complained < 0 || !output.endsWith('\n')) return
    this.#waiting = undefined
    waiting.finish({
      code: Number(output.slice(printed + mark.length)),
      output: output.slice(0, printed),
      errors: errors.slice(0, complained).slice(0, errorTextMaxBytes),
    })
  }

  #kill(cause: Error): void {
    const { pid } = this.#child
    try {
      if (pid !== undefined && !this.#gone) process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended in the meantime.
    }
    this.#end(cause)
  }

  #end(cause: Error): void {
    this.#gone = true
    this.#waiting?.fail(new ShellGone(cause.message, { cause }))
    this.#waiting = undefined
  }

  /** An idle shell does not keep this process alive. */
  #hold(busy: boolean): void {
    const { stdin, stdout, stderr } = this.#child
    for (const one of [this.#child, stdin as Socket, stdout as Socket, stderr as Socket]) {
      if (busy) one.ref()
      else one.unref()
    }
  }
}

function orderOf(command: readonly string[], input: string, mark: string): string {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const lines = input === '' || input.endsWith('\n') ? input : `${input}\n`
  const ends = `printf '%s %s\\n' ${mark} $?; printf '%s\\n' ${mark} >&2\n`
  return `${words} <<'${mark}'\n${lines}${mark}\n${ends}`
}

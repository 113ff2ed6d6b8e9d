import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

/** The time limit of one run of a tool, so that a stuck tool does not delay an instance's start for ever. */
const commandTimeoutMs = 10_000
/** The bytes of a tool's error text that are kept. They are enough to see what the tool refused. */
const errorTextMaxBytes = 2_000

/** A tool of the host failed. The message holds what the tool printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Runs the host's network tools. With a `prefix`, such as `['ip', 'netns', 'exec', 'x']`, they run in
 * another network. Orders are written to stdin, a whole batch to one process, because starting a process
 * takes the most time here.
 */
export class Commands {
  readonly #prefix: readonly string[]

  constructor(prefix: readonly string[] = []) {
    this.#prefix = prefix
  }

  /**
   * Starts a program that runs on and takes orders on stdin. It gets no part of our environment, because
   * that may hold secrets of the platform.
   */
  start(command: readonly string[]): ChildProcess {
    const [program = '', ...args] = [...this.#prefix, ...command]
    return spawn(program, args, { stdio: 'pipe', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } })
  }

  async run(command: readonly string[], input = ''): Promise<string> {
    const [program = '', ...args] = [...this.#prefix, ...command]
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: commandTimeoutMs })
      let output = ''
      let errors = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (errors.length < errorTextMaxBytes) errors += text
      })
      child.on('error', (cause) => {
        reject(new CommandError(`${program} could not be started: ${cause.message}`, { cause }))
      })
      child.on('close', (code, signal) => {
        if (code === 0) resolve(output)
        else
          reject(
            new CommandError(`${command.join(' ')} ended with ${String(code ?? signal)}: ${errors.trim()}`),
          )
      })
      // The tool may refuse its orders before it has read all of them. Its exit code tells why.
      child.stdin.on('error', () => undefined)
      child.stdin.end(input)
    })
  }
}

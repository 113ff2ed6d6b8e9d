import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Semaphore } from '../../primitives/semaphore.ts'
import { CommandShell, ShellGone } from './command-shell.ts'

/** The time limit of one run of a tool, so that a stuck tool does not delay an instance's start for ever. */
const commandTimeoutMs = 10_000
/**
 * The most tools at once. A start needs two. More of them would wait for the kernel's lock of the network
 * settings.
 */
const commandsAtOnce = 4
/** The exit codes of a shell that could not start a command. */
const notStarted: readonly number[] = [126, 127]

/** A tool of the host failed. The message holds what the tool printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Runs the host's network tools. With a `prefix`, such as `['ip', 'netns', 'exec', 'x']`, they run in
 * another network. Orders are written to stdin, a whole batch to one process, because starting a process
 * takes the most time here. Small shells start them, which stay for the next ones.
 */
export class Commands {
  readonly #prefix: readonly string[]
  readonly #turns = new Semaphore(commandsAtOnce)
  /** The shells that run nothing now. */
  readonly #idle: CommandShell[] = []

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

  /** Runs a tool and returns what it printed. Throws `CommandError`. */
  async run(command: readonly string[], input = ''): Promise<string> {
    return await this.#turns.run(async () => await this.#run([...this.#prefix, ...command], input))
  }

  async #run(command: readonly string[], input: string): Promise<string> {
    const shell = this.#takeShell()
    try {
      const { code, output, errors } = await shell.run(command, input, commandTimeoutMs)
      if (code === 0) return output
      const how = notStarted.includes(code) ? 'could not be started' : `ended with ${String(code)}`
      throw new CommandError(`${command.join(' ')} ${how}: ${errors.trim()}`)
    } catch (error) {
      if (!(error instanceof ShellGone)) throw error
      throw new CommandError(`${command.join(' ')} did not end: ${error.message}`, { cause: error })
    } finally {
      if (!shell.gone) this.#idle.push(shell)
    }
  }

  /** A shell may have been killed while it was idle. */
  #takeShell(): CommandShell {
    for (let shell = this.#idle.pop(); shell !== undefined; shell = this.#idle.pop()) {
      if (!shell.gone) return shell
    }
    return new CommandShell()
  }
}

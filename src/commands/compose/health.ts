import { PassThrough, Readable } from 'node:stream'
import { one } from '../../client/answers.ts'
import { pause } from '../../client/pause.ts'
import type { ProgramTerminal } from '../command-deps.ts'
import { CommandFailure, ExitCode, ownFailureCode } from '../command-failure.ts'
import { openExec } from '../instance/exec-socket.ts'
import { ExecTalk } from '../instance/exec-talk.ts'
import type { Session } from '../session.ts'
import type { HealthCheck } from './project.ts'

/** The end of a program's output that is told if an instance does not become healthy. */
const keptOutput = 500

export interface CheckResult {
  readonly isHealthy: boolean
  /** The last output of the program, or why it could not be run. */
  readonly output: string
}

/** Runs a check as often as it says, until an instance is healthy. Throws if it does not become so. */
export async function untilHealthy(
  { deps }: Pick<Session, 'deps'>,
  {
    name,
    health,
    check,
    deadlineMs,
  }: {
    readonly name: string
    readonly health: HealthCheck
    readonly check: () => Promise<CheckResult>
    readonly deadlineMs: number
  },
): Promise<void> {
  const startedAt = Date.now()
  let failures = 0
  for (;;) {
    const { isHealthy, output } = await check()
    deps.signal.throwIfAborted()
    if (isHealthy) return
    const now = Date.now()
    const isStarting = now - startedAt < health.startPeriodMs
    if (!isStarting) failures += 1
    const said = output === '' ? '' : `; its check says: ${output}`
    if (failures >= health.retries) {
      throw new CommandFailure(`${name} is not healthy after ${failures} checks${said}`)
    }
    if (now >= deadlineMs) {
      throw new CommandFailure(`${name} is not healthy yet, and --timeout is over${said}`, {
        exitCode: ExitCode.TimedOut,
      })
    }
    await pause(isStarting ? health.startIntervalMs : health.intervalMs, deps.signal)
    deps.signal.throwIfAborted()
  }
}

/** Runs the program of a check in an instance. A program that takes longer than its time is ended. */
export async function runCheck(
  { access }: Pick<Session, 'access'>,
  instance: string,
  { argv, timeoutMs }: HealthCheck,
): Promise<CheckResult> {
  let output = ''
  const collect = (): PassThrough => {
    const stream = new PassThrough()
    stream.on('data', (bytes: Buffer) => (output = (output + bytes.toString('utf8')).slice(-keptOutput)))
    return stream
  }
  const terminal: ProgramTerminal = {
    input: Readable.from([]),
    output: collect(),
    errorOutput: collect(),
    isInteractive: false,
    size: () => undefined,
    setRaw: () => undefined,
    onResize: () => () => undefined,
  }
  let isLate = false
  let timer: NodeJS.Timeout | undefined
  try {
    const socket = await openExec(access, instance, 'exec')
    timer = setTimeout(() => {
      isLate = true
      socket.close()
    }, timeoutMs)
    const note = (text: string): void => void (output = text)
    const never = new AbortController().signal
    const code = await new ExecTalk(socket, { terminal, note, signal: never, ending: never }).run({
      type: 'run',
      argv,
    })
    const text = output.trim() || (code === ownFailureCode ? 'it can not be run' : `it ended with ${code}`)
    return { isHealthy: code === 0, output: text }
  } catch (error) {
    if (isLate) return { isHealthy: false, output: `it took longer than ${timeoutMs} ms` }
    if (!(error instanceof Error)) throw error
    return { isHealthy: false, output: error.message }
  } finally {
    clearTimeout(timer)
  }
}

/** How often an instance is looked at that has to run to its end. */
const completionPauseMs = 500

/** Waits until an instance has ended with 0. Throws if it ends with anything else. */
export async function untilCompleted(
  { client, deps }: Session,
  name: string,
  deadlineMs: number,
): Promise<void> {
  for (;;) {
    const params = { path: { object: name } }
    const found = one(await client.GET('/v1/instances/{object}', { params, signal: deps.signal }))
    const { state, exit_code: code, restart, failure } = found
    if (state === 'stopped' && code === 0) return
    if (failure !== undefined) throw new CommandFailure(`${name} did not start: ${failure}`)
    if (state === 'stopped' && restart?.next_at === undefined) {
      const how = code === undefined ? 'was stopped' : `ended with ${code}`
      throw new CommandFailure(`${name} has not completed: it ${how}; \`roost logs ${name}\` says more`)
    }
    if (Date.now() >= deadlineMs) {
      throw new CommandFailure(`${name} has not completed yet, and --timeout is over`, {
        exitCode: ExitCode.TimedOut,
      })
    }
    await pause(completionPauseMs, deps.signal)
    deps.signal.throwIfAborted()
  }
}

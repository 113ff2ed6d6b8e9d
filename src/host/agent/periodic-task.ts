import type { AgentLog } from './agent-ports.ts'

/**
 * Runs `task` again and again, with `intervalMs` between the end of one run and the start of the next. A
 * failure is logged, and the next run comes after the same interval.
 */
export function repeat(options: {
  readonly name: string
  readonly intervalMs: number
  readonly task: () => Promise<unknown>
  readonly log: AgentLog
}): { stop(): Promise<void> } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const runOnce = async (): Promise<void> => {
    try {
      await options.task()
    } catch (error) {
      options.log.warn({ err: error }, `${options.name} failed and will be tried again`)
    }
    if (!stopped) schedule()
  }
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = runOnce()
    }, options.intervalMs)
  }
  schedule()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

import type { AgentLog } from './agent-ports.ts'

/** Runs `task` again and again with `intervalMs` between the end of one and the next; a failure is logged and waits its turn. */
export function repeat(options: {
  readonly name: string
  readonly intervalMs: number
  readonly task: () => Promise<unknown>
  readonly log: AgentLog
}): { stop(): Promise<void> } {
  let stopped = false
  let running: Promise<unknown> = Promise.resolve()
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      running = options
        .task()
        .catch((error: unknown) => {
          options.log.warn({ err: error }, `${options.name} failed and will be tried again`)
        })
        .then(() => {
          if (!stopped) timer = next()
        })
    }, options.intervalMs)
  let timer = next()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

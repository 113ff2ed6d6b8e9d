import process from 'node:process'

/** What becomes of the virtual machines of a machine when the platform ends there. */
export const PlatformEnd = {
  EndVms: 'end-vms',
  /** They run on, and the next start takes them over. */
  KeepVms: 'keep-vms',
} as const
export type PlatformEnd = (typeof PlatformEnd)[keyof typeof PlatformEnd]

/** Each signal that ends a stack or a host that joined, and what it does to their virtual machines. */
export const endSignals = {
  SIGINT: PlatformEnd.EndVms,
  SIGTERM: PlatformEnd.EndVms,
  SIGHUP: PlatformEnd.EndVms,
  SIGUSR2: PlatformEnd.KeepVms,
} as const
export type PlatformSignal = keyof typeof endSignals

/** The signal by which another process ends the platform. */
export const signalOf = {
  [PlatformEnd.EndVms]: 'SIGTERM',
  [PlatformEnd.KeepVms]: 'SIGUSR2',
} as const satisfies Record<PlatformEnd, PlatformSignal>

/**
 * Calls `end` at the first signal that ends the platform. Later ones change nothing: the end is bounded in
 * time, and a part that was told to leave its virtual machines can not be told otherwise.
 */
export function onFirstEndSignal(
  end: (how: PlatformEnd, signal: PlatformSignal) => void,
  source: Pick<NodeJS.EventEmitter, 'on'> = process,
): void {
  let isFirst = true
  for (const [signal, how] of Object.entries(endSignals) as [PlatformSignal, PlatformEnd][]) {
    source.on(signal, () => {
      if (isFirst) end(how, signal)
      isFirst = false
    })
  }
}

/**
 * How a start that failed ends. It leaves the virtual machines that it found, because the next start can take
 * them over; what it began itself would have nobody to look after it.
 */
export function endOfFailedStart(foundVms: number): PlatformEnd {
  return foundVms > 0 ? PlatformEnd.KeepVms : PlatformEnd.EndVms
}

/** What the log says at a signal. */
export function endSentence(signal: PlatformSignal, runningVms: number): string {
  const vms = countOfVms(runningVms)
  if (runningVms === 0) return `stopping on ${signal}: no virtual machine runs`
  return endSignals[signal] === PlatformEnd.KeepVms
    ? `stopping on ${signal}: leaves ${vms} running, which the next start takes over`
    : `stopping on ${signal}: ends ${vms}; \`npx roost admin halt --keep-vms\` would leave them running`
}

export function countOfVms(count: number): string {
  return `${count} virtual ${count === 1 ? 'machine' : 'machines'}`
}

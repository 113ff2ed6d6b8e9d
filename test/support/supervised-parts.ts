import type { Part } from '../../src/launch/parts/part.ts'
import type { PartRunOptions } from '../../src/launch/parts/part-run.ts'
import { SupervisedPart } from '../../src/launch/parts/supervised-part.ts'
import { supervise } from '../../src/launch/parts/supervisor.ts'
import type { Supervisor } from '../../src/launch/parts/supervisor.ts'

export interface SupervisorOptions extends PartRunOptions {
  readonly parts: readonly Part[]
  readonly stopLimitMs?: number
}

/** Supervises parts as a platform does, without the rest of one. */
export function createSupervisor({ parts, stopLimitMs, ...options }: SupervisorOptions): Supervisor {
  const closing = new AbortController()
  const supervised = parts.map((part) => new SupervisedPart(part, options, closing.signal))
  return supervise(supervised, closing, stopLimitMs)
}

import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { QueryDefinition } from '@temporalio/common'
import { runWorkers } from '../support/temporal.ts'
import type { RunningWorkers } from '../support/temporal.ts'

type Work = Parameters<typeof runWorkers>[1]

/** Stands for an entity's row in PostgreSQL: a write with an older revision changes nothing. */
export class FakeRow<Projection> {
  revision = 0
  record: Projection | undefined
  readonly written: Projection[] = []
  isHidden = false
  isGone = false
  /** Resolves when the row is deleted. */
  readonly gone: Promise<void>
  readonly #deleted = Promise.withResolvers<void>()
  readonly #watchers = new Set<() => void>()
  readonly #writeFails: (nth: number) => boolean
  #writes = 0

  /** `writeFails` fails the nth write, counted from 1. */
  constructor(writeFails: (nth: number) => boolean = () => false) {
    this.#writeFails = writeFails
    this.gone = this.#deleted.promise
  }

  /** Returns false if the row is deleted. */
  write(revision: number, record: Projection): boolean {
    this.#writes += 1
    if (this.#writeFails(this.#writes)) throw new Error('the database is away')
    if (this.isGone || revision <= this.revision) return !this.isGone
    this.revision = revision
    this.record = record
    this.written.push(record)
    for (const look of this.#watchers) look()
    return true
  }

  delete(): void {
    this.isGone = true
    this.#deleted.resolve()
  }

  /** Resolves with the row's record as soon as the record fits. */
  reaches(fits: (record: Projection) => boolean): Promise<Projection> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.record === undefined || !fits(this.record)) return
        this.#watchers.delete(look)
        resolve(this.record)
      }
      this.#watchers.add(look)
      look()
    })
  }
}

/** The workflow of one entity, and the workers that run it and carry out its work. */
export interface EntityWorld {
  readonly id: string
  life<Life>(query: QueryDefinition<Life>): Promise<Life>
  /** The details that the Web UI shows of the workflow. */
  details(): Promise<string>
  /** The number of entries in the history of the present run. */
  entries(): Promise<number>
  /** Resolves when the workflow has ended by itself. */
  over(): Promise<void>
  /** Starts more workers beside those that run. */
  addWorkers(work: Work): Promise<void>
  /** Ends all workers and starts new ones for all of the work. */
  restartWorkers(): Promise<void>
  /** Ends the workers when the workflow has ended. */
  close(): Promise<void>
}

/**
 * `work` is the work of all workers. `begun` is the part of it for which there are workers from the start;
 * if it is absent, there are workers for all of it.
 */
export async function createEntityWorld(
  env: TestWorkflowEnvironment,
  of: { readonly id: string; readonly work: Work; readonly begun?: Work },
): Promise<EntityWorld> {
  const { id, work } = of
  const handle = env.client.workflow.getHandle(id)
  const workers: RunningWorkers[] = [await runWorkers(env, of.begun ?? work)]
  return {
    id,
    life: (query) => handle.query(query),
    async details() {
      const { currentDetails } = await handle.query<{ readonly currentDetails?: string }>(
        '__temporal_workflow_metadata',
      )
      return currentDetails ?? ''
    },
    async entries() {
      return (await handle.fetchHistory()).events?.length ?? 0
    },
    over: () => handle.result(),
    async addWorkers(more) {
      workers.push(await runWorkers(env, more))
    },
    async restartWorkers() {
      for (const one of workers.splice(0)) await one.stop()
      workers.push(await runWorkers(env, work))
    },
    async close() {
      await handle.result()
      for (const one of workers) await one.stop()
    },
  }
}

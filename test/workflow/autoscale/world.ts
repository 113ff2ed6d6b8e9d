import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { AutoscaleControl } from '../../../src/control/autoscale-control.ts'
import { createAutoscaleControl } from '../../../src/control/temporal-autoscale-control.ts'
import type { AutoscaleLife } from '../../../src/domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../../../src/domain/autoscale/settings.ts'
import { autoscaleLifeQuery, autoscaleWorkflowId } from '../../../workflows/autoscale/messages.ts'
import { FakeAutoscale } from '../../support/fake-autoscale.ts'
import type { FakeAutoscaleOptions } from '../../support/fake-autoscale.ts'
import { runWorkers } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'

/** One autoscale configuration of a service that only the test sees. */
export interface AutoscaleWorld {
  readonly settings: AutoscaleSettings
  readonly control: AutoscaleControl
  readonly service: FakeAutoscale
  readonly id: string
  life(): Promise<AutoscaleLife>
  /** Resolves when its life fits. */
  reaches(fits: (life: AutoscaleLife) => boolean): Promise<AutoscaleLife>
  /** Resolves when it is watched, for that size where one is given. */
  isWatched(target?: number): Promise<void>
  details(): Promise<string>
  /** Entries of the history of the present run. */
  entries(): Promise<number>
  restartWorkers(): Promise<void>
  /** Resolves when the workflow has ended by itself. */
  over(): Promise<void>
  /** Closes it: a workflow that is left under way would hold the time of the next test. */
  end(): Promise<void>
}

export interface AutoscaleWorldOptions extends FakeAutoscaleOptions {
  readonly settings?: Partial<AutoscaleSettings>
}

const soon = { limitMs: 30_000 }

export async function createAutoscaleWorld(
  env: TestWorkflowEnvironment,
  options: AutoscaleWorldOptions = {},
): Promise<AutoscaleWorld> {
  const settings: AutoscaleSettings = {
    serviceUuid: randomUUID(),
    serviceName: 'shop',
    userUuid: randomUUID(),
    ...options.settings,
  }
  const service = new FakeAutoscale(options)
  const run = (): Promise<RunningWorkers> =>
    runWorkers(env, { control: {}, autoscale: { ...service.changing, ...service.watching } })
  const workers = [await run()]
  const control = createAutoscaleControl(env.client)
  const id = autoscaleWorkflowId(settings.serviceUuid)
  const handle = env.client.workflow.getHandle(id)
  const life = (): Promise<AutoscaleLife> => handle.query(autoscaleLifeQuery)
  return {
    settings,
    control,
    service,
    id,
    life,
    async reaches(fits) {
      await until('its life fits', async () => fits(await life()), soon)
      return life()
    },
    async isWatched(target) {
      const isIt = (): boolean =>
        service.isWatched && (target === undefined || service.watches.at(-1)?.target === target)
      await until(`it is watched for ${target ?? 'any size'}`, isIt, soon)
    },
    async details() {
      const { currentDetails } = await handle.query<{ readonly currentDetails?: string }>(
        '__temporal_workflow_metadata',
      )
      return currentDetails ?? ''
    },
    async entries() {
      return (await handle.fetchHistory()).events?.length ?? 0
    },
    async restartWorkers() {
      for (const one of workers.splice(0)) await one.stop()
      workers.push(await run())
    },
    over: () => handle.result(),
    async end() {
      await control.delete(settings)
      await handle.result()
      for (const one of workers) await one.stop()
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { AutoscaleControl } from '../../../src/control/autoscale-control.ts'
import { createAutoscaleControl } from '../../../src/control/temporal-autoscale-control.ts'
import type { AutoscaleLife } from '../../../src/domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../../../src/domain/autoscale/settings.ts'
import { autoscaleLifeQuery, autoscaleWorkflowId } from '../../../workflows/autoscale/messages.ts'
import { FakeAutoscale } from '../../support/fake-autoscale.ts'
import type { FakeAutoscaleOptions } from '../../support/fake-autoscale.ts'
import { until } from '../../support/until.ts'
import { createEntityWorld } from '../entity-world.ts'
import type { EntityWorld } from '../entity-world.ts'

/** One autoscale configuration of a fake service, which shows what the test wants. */
export interface AutoscaleWorld extends Omit<EntityWorld, 'life' | 'addWorkers' | 'close'> {
  readonly settings: AutoscaleSettings
  readonly control: AutoscaleControl
  readonly service: FakeAutoscale
  life(): Promise<AutoscaleLife>
  /** Resolves when the workflow's life fits. */
  reaches(fits: (life: AutoscaleLife) => boolean): Promise<AutoscaleLife>
  /** Resolves when the service is watched; with `target`, when it is watched for that size. */
  isWatched(target?: number): Promise<void>
  /**
   * Closes the configuration. A workflow that still runs would hold back the server's clock for the next
   * test.
   */
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
  const world = await createEntityWorld(env, {
    id: autoscaleWorkflowId(settings.serviceUuid),
    work: { control: {}, autoscale: { ...service.changing, ...service.watching } },
  })
  const control = createAutoscaleControl(env.client)
  const life = (): Promise<AutoscaleLife> => world.life(autoscaleLifeQuery)
  return {
    ...world,
    settings,
    control,
    service,
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
    async end() {
      await control.delete(settings)
      await world.close()
    },
  }
}

import type { TestWorkflowEnvironment } from '@temporalio/testing'

/** Plays a life that is recorded, in its own world. */
export type Story = (env: TestWorkflowEnvironment) => Promise<Lived>

/** A life whose story was played. Its workflow may still run. */
export interface Lived {
  /** The workflow's id. */
  readonly id: string
  end(): Promise<void>
}

interface World<Settings> extends Lived {
  readonly settings: Settings
  readonly control: { ensureStarted(settings: Settings): Promise<void> }
}

/**
 * Makes stories of one kind of world. Each story opens its own world, starts the workflow there, and plays
 * `lived`.
 */
export function storiesIn<Settings, Opened extends World<Settings>, Options>(
  open: (env: TestWorkflowEnvironment, options: Options) => Promise<Opened & World<Settings>>,
): (options: Options, lived: (world: Opened) => Promise<void>) => Story {
  return (options, lived) => async (env) => {
    const world = await open(env, options)
    await world.control.ensureStarted(world.settings)
    await lived(world)
    return world
  }
}

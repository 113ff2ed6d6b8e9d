import type { StoryLine } from '../story.ts'

/** What the workflow of a rollout is started with. Plain JSON without secrets. */
export interface RolloutSettings {
  readonly rolloutUuid: string
  readonly serviceName: string
  readonly userUuid: string
  /** What happened before the workflow continued as new. */
  readonly story?: readonly StoryLine[]
}

import { replaceOne, resizeTo } from '../support/autoscale-outcomes.ts'
import { until } from '../support/until.ts'
import { createAutoscaleWorld } from '../workflow/autoscale/world.ts'
import { storiesIn } from './story.ts'
import type { Story } from './story.ts'

const soon = { limitMs: 30_000 }

const story = storiesIn(createAutoscaleWorld)

/** The lives of autoscale configurations that are recorded. */
export const autoscaleStories: Readonly<Record<string, Story>> = {
  'autoscale-out-and-in': story({}, async ({ service, isWatched, control, settings, over }) => {
    await isWatched()
    service.sees(resizeTo(3))
    await isWatched(3)
    service.sees({ kind: 'align', target: 3, size: 2 }, resizeTo(1, 3))
    await isWatched(1)
    await control.delete(settings)
    await over()
  }),
  'autoscale-failed-and-recovered': story(
    {
      settings: { target: 2 },
      alignmentOf: (_input, nth) => (nth === 1 ? { size: 1, refusal: 'no room' } : undefined),
    },
    async ({ service, isWatched }) => {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(1)
      service.sees(replaceOne)
      await until('it is aligned again', () => service.count('align') === 2, soon)
      service.sees({ kind: 'recovered' }, resizeTo(2))
      await isWatched(2)
    },
  ),
  'autoscale-configured-again-while-closing': story(
    { closingOf: (nth) => (nth === 1 ? { closed: false } : undefined) },
    async ({ service, isWatched, control, settings, over }) => {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(3)
      await control.delete(settings)
      await until('it is being closed', () => service.count('close') === 1, soon)
      await control.configured(settings)
      await until('it is watched again', () => service.watches.at(-1)?.target === undefined, soon)
      await isWatched()
      service.sees({ kind: 'closing' })
      await over()
    },
  ),
  'autoscale-continued-as-new': story({}, async ({ service, isWatched, control, settings }) => {
    await isWatched()
    service.sees(resizeTo(3))
    await isWatched(3)
    await control.refresh(settings.serviceUuid)
    await until('it is watched again', () => service.count('watch') === 3, soon)
    service.sees(resizeTo(2, 3))
    await isWatched(2)
  }),
}

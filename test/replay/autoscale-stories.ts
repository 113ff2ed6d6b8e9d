import { replaceOne, resizeTo } from '../support/autoscale-outcomes.ts'
import { until } from '../support/until.ts'
import type { AutoscaleWorld, AutoscaleWorldOptions } from '../workflow/autoscale/world.ts'

const soon = { limitMs: 30_000 }

export interface AutoscaleStory {
  readonly options: AutoscaleWorldOptions
  readonly lived: (world: AutoscaleWorld) => Promise<void>
}

/** Lives of autoscale configurations that are recorded. */
export const autoscaleStories: Readonly<Record<string, AutoscaleStory>> = {
  'autoscale-out-and-in': {
    options: {},
    async lived({ service, isWatched, control, settings, over }) {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(3)
      service.sees({ kind: 'align', target: 3, size: 2 }, resizeTo(1, 3))
      await isWatched(1)
      await control.delete(settings)
      await over()
    },
  },
  'autoscale-failed-and-recovered': {
    options: {
      settings: { target: 2 },
      alignmentOf: (_input, nth) => (nth === 1 ? { size: 1, refusal: 'no room' } : undefined),
    },
    async lived({ service, isWatched, reaches }) {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(1)
      service.sees(replaceOne)
      await reaches(({ failures, phase }) => failures === 2 && phase === 'watching')
      service.sees({ kind: 'recovered' }, resizeTo(2))
      await isWatched(2)
    },
  },
  'autoscale-configured-again-while-closing': {
    options: { closingOf: (nth) => (nth === 1 ? { closed: false } : undefined) },
    async lived({ service, isWatched, control, settings, over }) {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(3)
      await control.delete(settings)
      await control.configured(settings)
      await until('it is watched again', () => service.watches.at(-1)?.target === undefined, soon)
      await isWatched()
      service.sees({ kind: 'closing' })
      await over()
    },
  },
  'autoscale-continued-as-new': {
    options: {},
    async lived({ service, isWatched, control, settings }) {
      await isWatched()
      service.sees(resizeTo(3))
      await isWatched(3)
      await control.refresh(settings.serviceUuid)
      await until('it is watched again', () => service.count('watch') === 3, soon)
      service.sees(resizeTo(2, 3))
      await isWatched(2)
    },
  },
  'autoscale-deleted-while-aligning': {
    options: { alignmentOf: (_input, nth) => (nth < 3 ? { broken: 'the database is away' } : undefined) },
    async lived({ service, isWatched, control, settings, over }) {
      await isWatched()
      service.sees(resizeTo(3))
      await until('it is tried', () => service.count('align') > 0, soon)
      await control.delete(settings)
      await over()
    },
  },
}

import { computed } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { RunResult } from '../../src/domain/schedule/run.ts'
import { api } from '../frame/api.ts'
import { Mood } from '../instance/mood.ts'
import { ObjectStore } from '../object/store.ts'

export type Schedule = Entry<'GetSchedulesAnswer'>
export type Run = Entry<'GetScheduleRunsAnswer'>['runs'][number]

export const schedules = new ObjectStore<Schedule>({
  read: async (signal) => succeeded(await api.GET('/v1/schedules', { signal })),
  // Of a run that begins, only the instance that it makes tells.
  concerns: ({ object: { type }, by }) => type === 'schedule' || by.kind === 'schedule',
})

export const scheduleByUuid = computed(() => new Map(schedules.all.value.map((one) => [one.uuid, one])))

const results: Readonly<Record<RunResult, readonly [mood: Mood, word: string]>> = {
  [RunResult.Running]: [Mood.Moves, 'Running'],
  [RunResult.Succeeded]: [Mood.Runs, 'Succeeded'],
  [RunResult.Failed]: [Mood.Fails, 'Failed'],
}

export function runState({ result }: Pick<Run, 'result'>) {
  const [mood, word] = results[result]
  return { mood, word }
}

/** The state of a schedule: that of its last run, unless it is paused. */
export function scheduleState({ paused, last_run: last }: Schedule) {
  if (paused === true) return { mood: Mood.Sleeps, word: 'Paused' }
  return last === undefined ? { mood: Mood.Rests, word: 'Has not run' } : runState(last)
}

/** What the schedule does, in a few words. */
export function actionText({ action: { start, stop, run, rollout } = {} }: Schedule): string {
  if (rollout !== undefined) return `rolls ${rollout.service} out`
  if (run !== undefined) return `runs ${run.image.split('@', 1)[0]}`
  if (start !== undefined) return `starts ${start.instances.join(', ')}`
  return `stops ${stop?.instances.join(', ') ?? 'nothing'}`
}

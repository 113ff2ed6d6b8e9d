import { readWholeNumber } from '../object/form-reading.ts'
import type { FormReading } from '../object/form-reading.ts'
import { readVariables } from '../instance/new-instance.ts'
import { wordsOf } from '../service/new-service.ts'
import { defaultMemoryMb } from '../../src/domain/instance/defaults.ts'
import { defaultRunTimeoutMs, ScheduleActionType } from '../../src/domain/schedule/action.ts'
import { parseCron } from '../../src/domain/schedule/cron.ts'
import { isTimeZone, nextOccurrences } from '../../src/domain/schedule/occurrences.ts'
import {
  catchUpRangeS,
  defaultCatchUpS,
  defaultOverlap,
  defaultTimeZone,
} from '../../src/domain/schedule/overlap.ts'
import type { OverlapPolicy } from '../../src/domain/schedule/overlap.ts'

/** What a person has filled in, as texts. */
export interface ScheduleDraft {
  readonly name: string
  readonly cron: string
  readonly timeZone: string
  readonly overlap: OverlapPolicy
  readonly catchUpS: string
  readonly action: ScheduleActionType
  /** Of a start and of a stop. */
  readonly instances: string
  /** Of a stop. */
  readonly drainS: string
  /** Of a run. */
  readonly service: string
  readonly image: string
  readonly args: string
  readonly env: string
  readonly memoryMb: string
  readonly timeoutS: string
}

export const emptyScheduleDraft: ScheduleDraft = {
  name: '',
  cron: '0 3 * * *',
  timeZone: defaultTimeZone,
  overlap: defaultOverlap,
  catchUpS: String(defaultCatchUpS),
  action: ScheduleActionType.Run,
  instances: '',
  drainS: '0',
  service: '',
  image: '',
  args: '',
  env: '',
  memoryMb: String(defaultMemoryMb),
  timeoutS: String(defaultRunTimeoutMs / 1_000),
}

type Field = keyof ScheduleDraft
type Problem = Extract<FormReading<never, Field>, { readonly ok: false }>

export interface NewSchedule {
  name?: string
  cron: string
  time_zone: string
  overlap: OverlapPolicy
  catch_up_s: number
  action: NewAction
}

interface NewAction {
  start?: { instances: string[] }
  stop?: { instances: string[]; drain_timeout_ms: number }
  rollout?: { service: string; image?: string; add?: { env: Record<string, string> } }
  run?: { image: string; args?: string; env?: Record<string, string>; memory_mb: number; timeout_s: number }
}

/** The request that a draft means, or the first thing that is wrong with it. The API checks the rest. */
export function readScheduleDraft(draft: ScheduleDraft): FormReading<NewSchedule, Field> {
  const times = readTimes(draft)
  if (!times.ok) return times
  const catchUpS = readWhole(draft, 'catchUpS', catchUpRangeS)
  if (typeof catchUpS !== 'number') return catchUpS
  const action = readAction[draft.action](draft)
  if ('ok' in action) return action
  const name = draft.name.trim()
  const { cron, timeZone } = times
  const rest = { cron, time_zone: timeZone, overlap: draft.overlap, catch_up_s: catchUpS, action }
  return { ok: true, request: { ...(name === '' ? {} : { name }), ...rest } }
}

/** The next times of a draft, in milliseconds; none as long as it does not say when it runs. */
export function nextRunsOf(draft: ScheduleDraft, afterMs: number, count: number): readonly number[] {
  const read = parseCron(draft.cron)
  const timeZone = draft.timeZone.trim()
  return read.ok && isTimeZone(timeZone) ? nextOccurrences(read.cron, { timeZone, afterMs, count }) : []
}

function readTimes(
  draft: ScheduleDraft,
): Problem | { readonly ok: true; readonly cron: string; readonly timeZone: string } {
  const [cron, timeZone] = [draft.cron.trim(), draft.timeZone.trim()]
  const read = parseCron(cron)
  if (!read.ok) return wrong('cron', `Give the times as a cron expression: ${read.reason}.`)
  if (!isTimeZone(timeZone)) {
    return wrong('timeZone', `Give a time zone, such as Europe/Berlin or UTC; '${timeZone}' is none.`)
  }
  return { ok: true, cron, timeZone }
}

const readAction: Readonly<Record<ScheduleActionType, (draft: ScheduleDraft) => NewAction | Problem>> = {
  [ScheduleActionType.Rollout](draft) {
    const service = draft.service.trim()
    if (service === '') return wrong('service', 'Give the name of a service.')
    const image = draft.image.trim()
    const env = readVariables(draft.env)
    if (typeof env === 'string') return wrong('env', env)
    return {
      rollout: {
        service,
        ...(image === '' ? {} : { image }),
        ...(Object.keys(env).length === 0 ? {} : { add: { env: { ...env } } }),
      },
    }
  },
  [ScheduleActionType.Start](draft) {
    const instances = readInstances(draft)
    return 'ok' in instances ? instances : { start: { instances: [...instances] } }
  },
  [ScheduleActionType.Stop](draft) {
    const instances = readInstances(draft)
    if ('ok' in instances) return instances
    const drainS = readWhole(draft, 'drainS', { min: 0 })
    if (typeof drainS !== 'number') return drainS
    return { stop: { instances: [...instances], drain_timeout_ms: drainS * 1_000 } }
  },
  [ScheduleActionType.Run](draft) {
    const image = draft.image.trim()
    if (image === '') return wrong('image', 'Give an image, such as hello:latest.')
    const memoryMb = readWhole(draft, 'memoryMb', { min: 1 })
    if (typeof memoryMb !== 'number') return memoryMb
    const timeoutS = readWhole(draft, 'timeoutS', { min: 1 })
    if (typeof timeoutS !== 'number') return timeoutS
    const env = readVariables(draft.env)
    if (typeof env === 'string') return wrong('env', env)
    const args = draft.args.trim()
    return {
      run: {
        image,
        ...(args === '' ? {} : { args }),
        ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
        memory_mb: memoryMb,
        timeout_s: timeoutS,
      },
    }
  },
}

function readInstances({ instances }: ScheduleDraft): readonly string[] | Problem {
  const names = wordsOf(instances)
  return names.length === 0 ? wrong('instances', 'Give the name of at least one instance.') : names
}

function readWhole(
  draft: ScheduleDraft,
  field: 'catchUpS' | 'drainS' | 'memoryMb' | 'timeoutS',
  range: { readonly min: number; readonly max?: number },
): number | Problem {
  const value = readWholeNumber(draft[field], range)
  return typeof value === 'number' ? value : wrong(field, value)
}

function wrong(field: Field, problem: string): Problem {
  return { ok: false, field, problem }
}

/** The field of the form that a sentence of the API is about; undefined if it is about none of them. */
export function fieldInSentence(sentence: string): Field | undefined {
  return sentences.find(([pattern]) => pattern.test(sentence))?.[1]
}

const sentences: readonly (readonly [RegExp, Field])[] = [
  [/cron expression|'cron'/, 'cron'],
  [/time zone|'time_zone'/, 'timeZone'],
  [/'catch_up_s'/, 'catchUpS'],
  [/'instances'|No instance with/, 'instances'],
  [/'drain_timeout_ms'/, 'drainS'],
  [/'service'/, 'service'],
  [/^No image|[Ii]mage '|'image'/, 'image'],
  [/'memory_mb'|memory/, 'memoryMb'],
  [/'timeout_s'/, 'timeoutS'],
  [/'args'/, 'args'],
  [/'env'/, 'env'],
  [/Invalid name|with name|'name'/, 'name'],
]

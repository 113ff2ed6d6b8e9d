import type { VNode } from 'preact'
import { who } from '../account/session.ts'
import { one } from '../../src/client/answers.ts'
import { useShown } from '../event/on-demand.ts'
import { api } from '../frame/api.ts'
import { Fact } from '../frame/facts.tsx'
import { addressOf } from '../frame/place.ts'
import { fullTime } from '../frame/time.ts'
import { LatestEvents } from '../object/latest-events.tsx'
import { HiddenPage } from '../object/list-page.tsx'
import { AbsentObject, attempt, DeleteButton, ObjectPage } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { useExplanation, Why } from '../object/why.tsx'
import { RunsCard } from './runs-card.tsx'
import { actionText, scheduleByUuid, schedules, scheduleState } from './store.ts'
import type { Schedule } from './store.ts'

const back = { title: 'Schedules', address: addressOf('schedules') }

/** One schedule: when it runs next, and what its last runs did. */
export function SchedulePage({ uuid }: { readonly uuid: string }): VNode {
  useShown(schedules)
  const schedule = scheduleByUuid.value.get(uuid)
  if (who.value?.services !== null) return <HiddenPage title="Schedules" plural="schedules" />
  if (schedule === undefined) return <AbsentObject word="schedule" back={back} store={schedules} />
  return <Present schedule={schedule} />
}

function Present({ schedule }: { readonly schedule: Schedule }): VNode {
  const { uuid, name } = schedule
  const params = { path: { object: uuid } }
  const explained = useExplanation(schedule, async (signal) =>
    one(await api.GET('/v1/schedules/{object}/explain', { params, signal })),
  )
  return (
    <ObjectPage
      name={name}
      back={back}
      state={<StateMark {...scheduleState(schedule)} isFilled />}
      actions={<Actions schedule={schedule} />}
    >
      <Why {...explained} />
      <RunsCard schedule={schedule} />
      <section class="card" aria-label="Facts">
        <dl class="facts card-body">
          <Fact label="What it does">{actionText(schedule)}</Fact>
          <Fact label="Times">
            <code>{schedule.cron}</code> in {schedule.time_zone}
          </Fact>
          <Fact label="Next runs">
            {(schedule.next_runs ?? []).map((at) => fullTime(at)).join(', ') || 'none while it is paused'}
          </Fact>
          <Fact label="During an earlier run">{schedule.overlap}</Fact>
          <Fact label="Identifier">
            <span class="mono small">{uuid}</span>
          </Fact>
        </dl>
      </section>
      <LatestEvents uuid={uuid} />
    </ObjectPage>
  )
}

function Actions({ schedule }: { readonly schedule: Schedule }): VNode {
  const { uuid, name, paused = false } = schedule
  const params = { path: { object: uuid } }
  const tell = async (run: () => Promise<unknown>, done: string): Promise<void> => {
    await attempt(run, done)
    schedules.refreshSoon()
  }
  const trigger = () =>
    tell(async () => one(await api.PUT('/v1/schedules/{object}/trigger', { params })), `${name} runs.`)
  const pause = () =>
    tell(
      async () => one(await api.PATCH('/v1/schedules/{object}', { params, body: { paused: !paused } })),
      `${name} was ${paused ? 'resumed' : 'paused'}.`,
    )
  return (
    <>
      <button type="button" class="button" onClick={() => void trigger()}>
        Run now
      </button>
      <button type="button" class="button" onClick={() => void pause()}>
        {paused ? 'Resume' : 'Pause'}
      </button>
      <DeleteButton
        name={name}
        text="Its runs are forgotten, and the instance of a run that is under way is deleted."
        back={back}
        store={schedules}
        run={async () => one(await api.DELETE('/v1/schedules/{object}', { params }))}
      />
    </>
  )
}

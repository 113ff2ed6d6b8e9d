import type { VNode } from 'preact'
import { addressOf } from '../frame/place.ts'
import { fullTime } from '../frame/time.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { actionText, schedules, scheduleState } from './store.ts'
import type { Schedule } from './store.ts'

const kind: ListKind<Schedule> = {
  title: 'Schedules',
  plural: 'schedules',
  store: schedules,
  create: { address: addressOf('schedules', 'new'), label: 'Create a schedule' },
  heads: { name: 'Name', state: 'Last run', about: 'What it does', amount: 'Next run' },
  cellsOf: (schedule) => ({
    key: schedule.uuid,
    name: schedule.name,
    address: addressOf('schedules', schedule.uuid),
    state: <StateMark {...scheduleState(schedule)} />,
    about: actionText(schedule),
    amount: nextText(schedule),
  }),
  empty: {
    title: 'No schedules yet',
    text: 'A schedule starts or stops instances, or runs an image to its end, at set times.',
    label: 'the command that creates a schedule',
    command: () => "npx roost schedule create nightly --cron '0 3 * * *' --run hello",
  },
}

function nextText({ next_runs: [next] = [] }: Schedule): string {
  return next === undefined ? '' : fullTime(next)
}

/** All schedules of the account. */
export const SchedulesPage = (): VNode => <ObjectListPage kind={kind} />

import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { ScheduleActionType } from '../../src/domain/schedule/action.ts'
import { OverlapPolicy } from '../../src/domain/schedule/overlap.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { SelectField, TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { fullTime } from '../frame/time.ts'
import { say } from '../frame/toasts.tsx'
import { EnvironmentField } from '../instance/fields.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { emptyScheduleDraft, fieldInSentence, nextRunsOf, readScheduleDraft } from './new-schedule.ts'
import type { ScheduleDraft } from './new-schedule.ts'
import { schedules } from './store.ts'

/** How many of the next runs a form shows. */
const shownRuns = 3

/** A form for a new schedule, with the request that it sends and the times of its next runs. */
export function CreateSchedulePage(): VNode {
  const [draft, setDraft] = useState(emptyScheduleDraft)
  const change = (part: Partial<ScheduleDraft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readScheduleDraft(draft)
  const body = reading.ok ? JSON.stringify(reading.request, undefined, 2) : '{"cron": "…"}'
  return (
    <CreateForm
      title="Create a schedule"
      back={addressOf('schedules')}
      action="Create"
      label="the command that creates this schedule"
      command={requestCommand('schedules', body)}
      isRequest
      read={() => reading}
      fieldOf={fieldInSentence}
      send={async (request) => {
        const created = one(await api.POST('/v1/schedules', { body: request }))
        schedules.refreshSoon()
        say(`${created.name} was created.`)
        return addressOf('schedules', created.uuid)
      }}
      parts={(wrong) => (
        <>
          <Times draft={draft} change={change} wrong={wrong} />
          <FormPart title="What it does">
            <SelectField
              name="action"
              label="What each run does"
              value={draft.action}
              options={actionWords}
              onChange={(action) => change({ action })}
            />
            <ActionFields draft={draft} change={change} wrong={wrong} />
          </FormPart>
        </>
      )}
    />
  )
}

const actionWords: Readonly<Record<ScheduleActionType, string>> = {
  [ScheduleActionType.Run]: 'Run an image to its end',
  [ScheduleActionType.Rollout]: 'Roll out a new version of a service',
  [ScheduleActionType.Start]: 'Start instances',
  [ScheduleActionType.Stop]: 'Stop instances',
}

const overlapWords: Readonly<Record<OverlapPolicy, string>> = {
  [OverlapPolicy.Skip]: 'Leave it out',
  [OverlapPolicy.Queue]: 'Let it wait until the earlier one has ended',
  [OverlapPolicy.Allow]: 'Let both run',
  [OverlapPolicy.Cancel]: 'End the earlier one',
}

interface PartProps {
  readonly draft: ScheduleDraft
  readonly change: (part: Partial<ScheduleDraft>) => void
  /** The name of the field that is wrong. */
  readonly wrong: string | undefined
}

function Times({ draft, change, wrong }: PartProps): VNode {
  return (
    <FormPart title="When it runs">
      <TextField
        name="name"
        label="Name"
        hint="Absent: one is made up."
        value={draft.name}
        onChange={(name) => change({ name })}
        isWrong={wrong === 'name'}
      />
      <div class="form-row">
        <TextField
          name="cron"
          label="Times"
          hint="Minute, hour, day of the month, month and day of the week, as in a crontab."
          value={draft.cron}
          onChange={(cron) => change({ cron })}
          isWrong={wrong === 'cron'}
        />
        <TextField
          name="timeZone"
          label="Time zone"
          hint="A name of the time zone database, such as Europe/Berlin."
          value={draft.timeZone}
          onChange={(timeZone) => change({ timeZone })}
          isWrong={wrong === 'timeZone'}
        />
      </div>
      <NextRuns draft={draft} />
      <div class="form-row">
        <SelectField
          name="overlap"
          label="A run is due during an earlier one"
          value={draft.overlap}
          options={overlapWords}
          onChange={(overlap) => change({ overlap })}
        />
        <TextField
          name="catchUpS"
          label="Make up for a missed run"
          hint="Within so many seconds. A run is missed while the platform is down."
          value={draft.catchUpS}
          onChange={(catchUpS) => change({ catchUpS })}
          isWrong={wrong === 'catchUpS'}
          inputMode="numeric"
        />
      </div>
    </FormPart>
  )
}

function NextRuns({ draft }: { readonly draft: ScheduleDraft }): VNode {
  const next = nextRunsOf(draft, Date.now(), shownRuns)
  const times = next.map((at) => fullTime(new Date(at).toISOString())).join(', ')
  return (
    <p class="soft small" aria-live="polite">
      {next.length === 0 ? 'These times do not say when it runs.' : `Next runs, by your clock: ${times}`}
    </p>
  )
}

function ActionFields(parts: PartProps): VNode {
  const { action } = parts.draft
  if (action === ScheduleActionType.Run) return <RunFields {...parts} />
  return action === ScheduleActionType.Rollout ? <RolloutFields {...parts} /> : <InstanceFields {...parts} />
}

function RolloutFields({ draft, change, wrong }: PartProps): VNode {
  return (
    <>
      <TextField
        name="service"
        label="Service"
        hint="Its name. All traffic goes to the new version once it is healthy, and back if it fails."
        value={draft.service}
        onChange={(service) => change({ service })}
        isWrong={wrong === 'service'}
      />
      <TextField
        name="image"
        label="Image of the new version"
        hint="Absent: the present one. A tag is pinned to the digest that it has now."
        value={draft.image}
        onChange={(image) => change({ image })}
        isWrong={wrong === 'image'}
        placeholder="hello:latest"
      />
      <EnvironmentField
        label="Variables that are added or replaced"
        value={draft.env}
        onChange={(env) => change({ env })}
        isWrong={wrong === 'env'}
      />
    </>
  )
}

function InstanceFields({ draft, change, wrong }: PartProps): VNode {
  return (
    <>
      <TextField
        name="instances"
        label="Instances"
        hint="Names, with blanks between. Each means the instance that has the name at the time of a run."
        value={draft.instances}
        onChange={(instances) => change({ instances })}
        isWrong={wrong === 'instances'}
      />
      {draft.action === ScheduleActionType.Stop && (
        <TextField
          name="drainS"
          label="Seconds for what is connected to end"
          hint="0: they are stopped at once."
          value={draft.drainS}
          onChange={(drainS) => change({ drainS })}
          isWrong={wrong === 'drainS'}
          inputMode="numeric"
        />
      )}
    </>
  )
}

function RunFields({ draft, change, wrong }: PartProps): VNode {
  return (
    <>
      <TextField
        name="image"
        label="Image"
        hint="Each run makes an instance of it, waits until it has ended, and deletes it."
        value={draft.image}
        onChange={(image) => change({ image })}
        isWrong={wrong === 'image'}
        placeholder="hello:latest"
      />
      <TextField
        name="args"
        label="Arguments"
        hint="Absent: the image's own."
        value={draft.args}
        onChange={(args) => change({ args })}
        isWrong={wrong === 'args'}
      />
      <div class="form-row">
        <TextField
          name="memoryMb"
          label="Memory in MiB"
          hint="It has this while it runs."
          value={draft.memoryMb}
          onChange={(memoryMb) => change({ memoryMb })}
          isWrong={wrong === 'memoryMb'}
          inputMode="numeric"
        />
        <TextField
          name="timeoutS"
          label="Seconds that it may take"
          hint="After that it is stopped, and has failed."
          value={draft.timeoutS}
          onChange={(timeoutS) => change({ timeoutS })}
          isWrong={wrong === 'timeoutS'}
          inputMode="numeric"
        />
      </div>
      <EnvironmentField
        label="Environment variables"
        value={draft.env}
        onChange={(env) => change({ env })}
        isWrong={wrong === 'env'}
      />
    </>
  )
}

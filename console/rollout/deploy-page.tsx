import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { EnvironmentField } from '../instance/fields.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { emptyRolloutDraft, readRolloutDraft, rolloutFieldOf } from './new-rollout.ts'
import type { RolloutDraft } from './new-rollout.ts'
import { services } from '../service/store.ts'
import type { Service } from '../service/store.ts'

/** A form for a new version of a service, with the request that it sends. */
export function DeployPage({ service }: { readonly service: Service }): VNode {
  const { uuid, name } = service
  const [draft, setDraft] = useState(emptyRolloutDraft)
  const change = (part: Partial<RolloutDraft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readRolloutDraft(draft)
  const body = JSON.stringify(reading.ok ? reading.request : {}, undefined, 2)
  return (
    <CreateForm
      title={`Deploy ${name}`}
      back={addressOf('services', uuid)}
      action="Deploy"
      label="the command that deploys this version"
      command={requestCommand(`services/${name}/rollouts`, body)}
      isRequest
      read={() => reading}
      fieldOf={rolloutFieldOf}
      send={async (request) => {
        const params = { path: { object: uuid } }
        one(await api.POST('/v1/services/{object}/rollouts', { params, body: request }))
        services.refreshSoon()
        say(`A new version of ${name} is rolled out.`)
        return addressOf('services', uuid)
      }}
      parts={(wrong) => (
        <>
          <Version draft={draft} change={change} wrong={wrong} />
          <Plan draft={draft} change={change} wrong={wrong} />
        </>
      )}
    />
  )
}

interface PartProps {
  readonly draft: RolloutDraft
  readonly change: (part: Partial<RolloutDraft>) => void
  /** The name of the field that is wrong. */
  readonly wrong: string | undefined
}

function Version({ draft, change, wrong }: PartProps): VNode {
  return (
    <FormPart title="The new version">
      <TextField
        name="image"
        label="Image"
        hint="Absent: the present one. So is everything that is not named here."
        value={draft.image}
        onChange={(image) => change({ image })}
        isWrong={wrong === 'image'}
        placeholder="hello:latest"
      />
      <EnvironmentField
        label="Environment variables that are new or other"
        value={draft.env}
        onChange={(env) => change({ env })}
        isWrong={wrong === 'env'}
      />
    </FormPart>
  )
}

function Plan({ draft, change, wrong }: PartProps): VNode {
  return (
    <FormPart title="How it is brought in">
      <TextField
        name="checkPath"
        label="Path that has to answer"
        hint="By HTTP, such as /health. Absent: its port has to accept a connection."
        value={draft.checkPath}
        onChange={(checkPath) => change({ checkPath })}
        isWrong={wrong === 'checkPath'}
      />
      <div class="form-row">
        <TextField
          name="canary"
          label="Traffic in each step, in percent"
          hint="Such as 5 50 100. It grows, and ends with 100."
          value={draft.canary}
          onChange={(canary) => change({ canary })}
          isWrong={wrong === 'canary'}
        />
        <TextField
          name="bakeS"
          label="Seconds of each step"
          hint="It goes back if an instance or too many requests fail."
          value={draft.bakeS}
          onChange={(bakeS) => change({ bakeS })}
          isWrong={wrong === 'bakeS'}
          inputMode="numeric"
        />
      </div>
      <TextField
        name="keepS"
        label="Seconds for which the old version is kept"
        hint="It is stopped, and the way back. It needs disk, and no memory."
        value={draft.keepS}
        onChange={(keepS) => change({ keepS })}
        isWrong={wrong === 'keepS'}
        inputMode="numeric"
      />
    </FormPart>
  )
}

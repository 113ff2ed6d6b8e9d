import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { draftOfService, readServiceChange } from './changed-service.ts'
import type { ServiceChangeDraft } from './changed-service.ts'
import type { Service } from './store.ts'

/** A form for what can be changed of a service, with the request that it sends. */
export function ChangeServicePage({ service }: { readonly service: Service }): VNode {
  const { uuid, name } = service
  const [draft, setDraft] = useState(() => draftOfService(service))
  const change = (part: Partial<ServiceChangeDraft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readServiceChange(service, draft)
  const body = JSON.stringify(reading.ok ? reading.request : {}, undefined, 2)
  return (
    <CreateForm
      title={`Change ${name}`}
      back={addressOf('services', uuid)}
      action="Change"
      label="the command that changes this service"
      command={requestCommand(`services/${name}`, body, 'PATCH')}
      isRequest
      read={() => readServiceChange(service, draft)}
      send={async (request) => {
        const params = { path: { object: uuid } }
        one(await api.PATCH('/v1/services/{object}', { params, body: request }))
        say(`${name} was changed.`)
        return addressOf('services', uuid)
      }}
      parts={(wrong) => (
        <FormPart title="Change the service">
          <TextField
            name="domains"
            label="Domains"
            hint="Below the platform's domain, or your own with a dot at its end. Several with blanks between."
            value={draft.domains}
            onChange={(domains) => change({ domains })}
            isWrong={wrong === 'domains'}
          />
          <TextField
            name="ports"
            label="Ports"
            hint="The public port and the application's, such as 443:8080. Several with blanks between."
            value={draft.ports}
            onChange={(ports) => change({ ports })}
            isWrong={wrong === 'ports'}
          />
          <div class="form-row">
            <TextField
              name="softLimit"
              label="Requests at once, wanted"
              hint="Above this, the next instance is woken."
              value={draft.softLimit}
              onChange={(softLimit) => change({ softLimit })}
              isWrong={wrong === 'softLimit'}
              inputMode="numeric"
            />
            <TextField
              name="hardLimit"
              label="Requests at once, at most"
              hint="One instance gets no more."
              value={draft.hardLimit}
              onChange={(hardLimit) => change({ hardLimit })}
              isWrong={wrong === 'hardLimit'}
              inputMode="numeric"
            />
          </div>
        </FormPart>
      )}
    />
  )
}

import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { emptyServiceDraft, readServiceDraft, serviceCommand } from './new-service.ts'
import type { ServiceDraft } from './new-service.ts'

/** A form for a new service, to which instances come later. */
export function CreateServicePage(): VNode {
  const [draft, setDraft] = useState(emptyServiceDraft)
  const change = (part: Partial<ServiceDraft>): void => setDraft((was) => ({ ...was, ...part }))
  return (
    <CreateForm
      title="Create a service"
      back={addressOf('services')}
      action="Create"
      label="the command that creates this service"
      command={serviceCommand(draft)}
      read={() => readServiceDraft(draft)}
      send={async (body) => {
        const created = one(await api.POST('/v1/services', { body }))
        say(`${created.name} was created.`)
        return addressOf('services', created.uuid)
      }}
      parts={(wrong) => (
        <FormPart title="Create a service">
          <TextField
            name="name"
            label="Name"
            hint="Absent: one is made up."
            value={draft.name}
            onChange={(name) => change({ name })}
          />
          <TextField
            name="domains"
            label="Domains"
            hint="Below the platform's domain, or your own with a dot at its end. Several with blanks between."
            value={draft.domains}
            onChange={(domains) => change({ domains })}
            isWrong={wrong === 'domains'}
            placeholder="web"
          />
          <TextField
            name="ports"
            label="Ports"
            hint="The public port and the application's, such as 443:8080. Several with blanks between."
            value={draft.ports}
            onChange={(ports) => change({ ports })}
            isWrong={wrong === 'ports'}
          />
          <CheckField
            name="redirects"
            label="Lead visitors of port 80 to port 443"
            hint="So that addresses without https work, too."
            isOn={draft.redirects}
            onChange={(redirects) => change({ redirects })}
          />
        </FormPart>
      )}
    />
  )
}

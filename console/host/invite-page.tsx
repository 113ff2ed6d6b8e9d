import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { TextField } from '../frame/form-fields.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf } from '../frame/place.ts'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { invitation, mayManageHosts } from './store.ts'

/** A form that invites a machine to become a host. */
export function InvitePage(): VNode {
  const [field, setField] = useState('')
  if (!mayManageHosts()) return <NotFound />
  const name = field.trim()
  return (
    <CreateForm
      title="Add a machine"
      back={addressOf('hosts')}
      action="Invite"
      label="the command that invites this machine"
      command={name === '' ? 'npx roost host invite' : `npx roost host invite --name ${name}`}
      read={() => ({ ok: true, request: name === '' ? {} : { name } })}
      fieldOf={(sentence) => (sentence.includes(`'${name}'`) ? 'name' : undefined)}
      send={async (body) => {
        const invited = one(await api.POST('/v1/hosts/invitations', { body }))
        invitation.value = invited
        return addressOf('hosts', invited.name)
      }}
      parts={(wrong) => (
        <FormPart title="Add a machine">
          <TextField
            name="name"
            label="Name"
            hint="Lower-case letters, digits and hyphens. Empty: h2, h3 and so on."
            value={field}
            onChange={setField}
            isWrong={wrong === 'name'}
          />
          <p class="soft">
            The machine becomes a host, and instances of all users run there. You get a line to run on it.
          </p>
        </FormPart>
      )}
    />
  )
}

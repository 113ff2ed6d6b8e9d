import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { TextField } from '../frame/form-fields.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { firstToken, mayManageUsers } from './store.ts'

/** A form for a new account, with the quotas of new accounts. */
export function CreateUserPage(): VNode {
  const [name, setName] = useState('')
  if (!mayManageUsers()) return <NotFound />
  const request = { name: name.trim() }
  return (
    <CreateForm
      title="Create a user"
      back={addressOf('users')}
      action="Create"
      label="the command that creates this user"
      command={requestCommand('users', JSON.stringify(request))}
      isRequest
      read={() => ({ ok: true, request })}
      send={async (body) => {
        const { uuid, token, name: made } = one(await api.POST('/v1/users', { body }))
        firstToken.value = { uuid, token }
        say(`${made} was created.`)
        return addressOf('users', uuid)
      }}
      parts={() => (
        <FormPart title="Create a user">
          <TextField
            name="name"
            label="Name"
            hint="It is the namespace of the user's images: letters, digits and hyphens."
            value={name}
            onChange={setName}
          />
          <p class="soft">
            The user gets the quotas of new accounts, which you can change then, and a first token with all
            rights.
          </p>
        </FormPart>
      )}
    />
  )
}

import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'

/** A form for a new volume. */
export function CreateVolumePage(): VNode {
  const [name, setName] = useState('')
  const [size, setSize] = useState('1024')
  const nameWord = name.trim()
  return (
    <CreateForm
      title="Create a volume"
      back={addressOf('volumes')}
      action="Create"
      label="the command that creates this volume"
      command={`npx roost volume create${nameWord === '' ? '' : ` ${nameWord}`} --size ${size.trim()}M`}
      read={() => {
        const sizeMb = Number(size)
        if (!Number.isInteger(sizeMb) || sizeMb < 1) {
          const problem = `Give the size as a whole number of MiB, at least 1; '${size.slice(0, 40)}' is none.`
          return { ok: false, field: 'size', problem }
        }
        return { ok: true, request: { size_mb: sizeMb, ...(nameWord === '' ? {} : { name: nameWord }) } }
      }}
      send={async (body) => {
        const created = one(await api.POST('/v1/volumes', { body }))
        say(`${created.name} was created.`)
        return addressOf('volumes', created.uuid)
      }}
      parts={(wrong) => (
        <FormPart title="Create a volume">
          <div class="form-row">
            <TextField
              name="name"
              label="Name"
              hint="Absent: one is made up."
              value={name}
              onChange={setName}
            />
            <TextField
              name="size"
              label="Size in MiB"
              hint="It can not grow later."
              value={size}
              onChange={setSize}
              isWrong={wrong === 'size'}
              inputMode="numeric"
            />
          </div>
        </FormPart>
      )}
    />
  )
}

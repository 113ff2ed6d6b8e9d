import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import type { FormReading } from '../object/form-reading.ts'

/** No PEM file of a certificate or key is larger. The API has a closer bound. */
const maxFileBytes = 100_000

interface Draft {
  readonly name: string
  readonly cn: string
  readonly chain: string
  readonly pkey: string
}

/** A form for a certificate that a person has already. The key is in the form only until it is sent. */
export function UploadCertificatePage(): VNode {
  const [draft, setDraft] = useState<Draft>({ name: '', cn: '', chain: '', pkey: '' })
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  return (
    <CreateForm
      title="Upload a certificate"
      back={addressOf('certificates')}
      action="Upload"
      label="the command that uploads this certificate"
      command={`npx roost cert upload '${draft.cn.trim() || '*.example.com'}' \\\n  --chain chain.pem --key key.pem`}
      read={() => readDraft(draft)}
      send={async (body) => {
        const uploaded = one(await api.POST('/v1/certificates', { body }))
        say(`${uploaded.name} was uploaded.`)
        return addressOf('certificates', uploaded.uuid)
      }}
      parts={(wrong) => (
        <FormPart title="Upload a certificate">
          <div class="form-row">
            <TextField
              name="cn"
              label="Domain"
              hint="The name that it certifies, a wildcard too."
              value={draft.cn}
              onChange={(cn) => change({ cn })}
              isWrong={wrong === 'cn'}
              placeholder="*.example.com"
            />
            <TextField
              name="name"
              label="Name"
              hint="Absent: one is made up."
              value={draft.name}
              onChange={(name) => change({ name })}
            />
          </div>
          <PemField
            name="chain"
            label="Certificate and those above it, in PEM"
            value={draft.chain}
            onChange={(chain) => change({ chain })}
            isWrong={wrong === 'chain'}
          />
          <PemField
            name="pkey"
            label="Its private key, in PEM"
            value={draft.pkey}
            onChange={(pkey) => change({ pkey })}
            isWrong={wrong === 'pkey'}
          />
        </FormPart>
      )}
    />
  )
}

function readDraft(draft: Draft): FormReading<Draft | Omit<Draft, 'name'>, keyof Draft> {
  const [cn, name] = [draft.cn.trim(), draft.name.trim()]
  const { chain, pkey } = draft
  if (cn === '') return { ok: false, field: 'cn', problem: 'Give the domain, such as *.example.com.' }
  if (chain.trim() === '') {
    return { ok: false, field: 'chain', problem: 'Give the certificate: choose its file, or paste its text.' }
  }
  if (pkey.trim() === '') {
    return { ok: false, field: 'pkey', problem: 'Give the private key: choose its file, or paste its text.' }
  }
  return { ok: true, request: { cn, chain, pkey, ...(name === '' ? {} : { name }) } }
}

/** A PEM text, pasted or from a file. */
function PemField(props: {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isWrong: boolean
}): VNode {
  const take = async (input: HTMLInputElement): Promise<void> => {
    const file = input.files?.[0]
    if (file === undefined) return
    try {
      if (file.size > maxFileBytes) {
        throw new Error(`${file.name} has ${file.size} bytes; a PEM file has at most ${maxFileBytes}.`)
      }
      props.onChange(await file.text())
    } catch (error) {
      input.value = ''
      say(sentenceOf(error), { isBad: true })
    }
  }
  return (
    <div class="field">
      <label for={`field-${props.name}`}>{props.label}</label>
      <textarea
        id={`field-${props.name}`}
        class="input"
        name={props.name}
        rows={5}
        spellcheck={false}
        autocomplete="off"
        value={props.value}
        aria-invalid={props.isWrong}
        onInput={({ currentTarget }) => props.onChange(currentTarget.value)}
      />
      <input
        class="file soft"
        type="file"
        name={`${props.name}-file`}
        aria-label={`File: ${props.label}`}
        accept=".pem,.crt,.cer,.key"
        onChange={({ currentTarget }) => void take(currentTarget)}
      />
    </div>
  )
}

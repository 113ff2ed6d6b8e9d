import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { who } from '../account/session.ts'
import { useShown } from '../event/on-demand.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { Fact } from '../frame/facts.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf } from '../frame/place.ts'
import { ageOf, fullTime } from '../frame/time.ts'
import { say } from '../frame/toasts.tsx'
import { AbsentObject, ObjectPage } from '../object/object-page.tsx'
import { Meter, quotaLabels } from '../overview/meters.tsx'
import type { QuotaKey } from '../overview/quotas.ts'
import { firstToken, mayManageUsers, userByUuid, users } from './store.ts'
import type { QuotaChange, User } from './store.ts'

const back = { title: 'Users', address: addressOf('users') }
const quotaKeys = Object.keys(quotaLabels) as readonly QuotaKey[]

const limitLabels: Readonly<Record<keyof User['limits'], string>> = {
  min_memory_mb: 'Least memory of an instance, MiB',
  max_memory_mb: 'Most memory of an instance, MiB',
  min_vcpus: 'Fewest processors of an instance',
  max_vcpus: 'Most processors of an instance',
  min_volume_mb: 'Least size of a volume, MiB',
  max_volume_mb: 'Most size of a volume, MiB',
  min_autoscale_size: 'Least size of autoscale',
  max_autoscale_size: 'Most size of autoscale',
}
const limitKeys = Object.keys(limitLabels) as readonly (keyof User['limits'])[]

/** One account: what it holds of its quotas, and a form to change them. */
export function UserPage({ uuid }: { readonly uuid: string }): VNode {
  useShown(users)
  useEffect(
    () => () => {
      firstToken.value = undefined
    },
    [],
  )
  if (who.value?.admin !== true) return <NotFound />
  const user = userByUuid.value.get(uuid)
  if (user === undefined) return <AbsentObject word="user" back={back} store={users} />
  const { value: first } = firstToken
  return (
    <ObjectPage name={user.name} back={back}>
      {first?.uuid === uuid && <FirstToken token={first.token} />}
      <section class="card" aria-labelledby="holds">
        <div class="card-head">
          <h2 id="holds">What it holds</h2>
        </div>
        <dl class="card-body meters">
          {quotaKeys.map((key) => (
            <Meter
              key={key}
              label={quotaLabels[key][0]}
              unit={quotaLabels[key][1]}
              used={user.used[key]}
              of={user.hard[key]}
            />
          ))}
        </dl>
      </section>
      <section class="card" aria-label="Facts">
        <dl class="facts card-body">
          <Fact label="Administrator">{user.admin ? 'yes' : 'no'}</Fact>
          <Fact label="Valid tokens">{user.tokens}</Fact>
          <Fact label="Last use">
            {user.last_used_at === undefined ? 'never' : `${ageOf(user.last_used_at)} ago`}
          </Fact>
          <Fact label="Created">{fullTime(user.created_at)}</Fact>
        </dl>
      </section>
      {mayManageUsers() && <QuotaForm key={JSON.stringify([user.hard, user.limits])} user={user} />}
    </ObjectPage>
  )
}

function FirstToken({ token }: { readonly token: string }): VNode {
  return (
    <section class="card" aria-labelledby="first-token">
      <div class="card-head">
        <h2 id="first-token">Its first token</h2>
      </div>
      <div class="card-body">
        <p class="soft">
          Give it to the user now: it is shown this once, and can not be read again. It has all rights of the
          account.
        </p>
        <Command label="the token" text={token} />
      </div>
    </section>
  )
}

type Fields = Readonly<Record<string, string>>

function QuotaForm({ user }: { readonly user: User }): VNode {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(user))
  const [problem, setProblem] = useState<string>()
  const save = async (): Promise<void> => {
    const change = changeOf(user, fields)
    if (typeof change === 'string') {
      setProblem(change)
      return
    }
    setProblem(undefined)
    try {
      const params = { path: { object: user.uuid } }
      one(await api.PUT('/v1/users/{object}/quotas', { params, body: change }))
      say(`The quotas of ${user.name} were changed.`)
      users.refresh()
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  const field = (name: string, label: string): VNode => (
    <label key={name} class="field">
      <span>{label}</span>
      <input
        class="input"
        name={name}
        inputMode="numeric"
        autocomplete="off"
        value={fields[name]}
        onInput={({ currentTarget }) => setFields((was) => ({ ...was, [name]: currentTarget.value }))}
      />
    </label>
  )
  return (
    <section class="card" aria-labelledby="quotas">
      <div class="card-head">
        <h2 id="quotas">Change its quotas</h2>
        <span class="faint small">What it has beyond a lowered quota stays.</span>
      </div>
      <form
        class="card-body quota-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div class="number-fields">
          {quotaKeys.map((key) => field(key, unitText(...quotaLabels[key])))}
          {limitKeys.map((key) => field(key, limitLabels[key]))}
        </div>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <button type="submit" class="button main">
            Save
          </button>
        </div>
      </form>
    </section>
  )
}

function unitText(label: string, unit: string): string {
  return unit === '' ? label : `${label}, ${unit}`
}

function fieldsOf({ hard, limits }: User): Fields {
  return Object.fromEntries(
    Object.entries({ ...hard, ...limits }).map(([name, value]) => [name, String(value)]),
  )
}

/** What was changed, or what is wrong with it as a sentence. The API checks the bounds. */
function changeOf({ hard, limits }: User, fields: Fields): QuotaChange | string {
  const changed = (of: Readonly<Record<string, number>>) =>
    Object.keys(of)
      .filter((name) => fields[name]?.trim() !== String(of[name]))
      .map((name) => [name, Number(fields[name])] as const)
  const all = { hard: changed(hard), limits: changed(limits) }
  const wrong = [...all.hard, ...all.limits].find(([name]) => !/^\d{1,12}$/.test(fields[name]?.trim() ?? ''))
  if (wrong !== undefined) return `'${fields[wrong[0]]}' must be a whole number.`
  if (all.hard.length + all.limits.length === 0) return 'Nothing was changed.'
  return {
    ...(all.hard.length > 0 && { hard: Object.fromEntries(all.hard) }),
    ...(all.limits.length > 0 && { limits: Object.fromEntries(all.limits) }),
  }
}

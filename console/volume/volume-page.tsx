import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { mayOperate, who } from '../account/session.ts'
import { one } from '../../src/client/answers.ts'
import { VolumeState } from '../../src/domain/volume/state.ts'
import { api } from '../frame/api.ts'
import { Fact } from '../frame/facts.tsx'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { fullTime } from '../frame/time.ts'
import { StateSign } from '../instance/state-sign.tsx'
import { instances } from '../instance/store.ts'
import { LatestEvents } from '../object/latest-events.tsx'
import { HiddenPage } from '../object/list-page.tsx'
import { AbsentObject, attempt, DeleteButton, ObjectPage } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { useShown } from '../event/on-demand.ts'
import { useExplanation, Why } from '../object/why.tsx'
import { volumeByUuid, volumes, volumeState } from './store.ts'
import type { Volume } from './store.ts'

const back = { title: 'Volumes', address: addressOf('volumes') }

/** One volume: its state and why, and who uses it. */
export function VolumePage({ uuid }: { readonly uuid: string }): VNode {
  useShown(volumes)
  const volume = volumeByUuid.value.get(uuid)
  if (who.value?.services !== null) return <HiddenPage title="Volumes" plural="volumes" />
  if (volume === undefined) return <AbsentObject word="volume" back={back} store={volumes} />
  return <Present volume={volume} />
}

function Present({ volume }: { readonly volume: Volume }): VNode {
  const { uuid, name } = volume
  const params = { path: { object: uuid } }
  const explained = useExplanation(volume, async (signal) =>
    one(await api.GET('/v1/volumes/{object}/explain', { params, signal })),
  )
  const isAttached = (volume.attached_to ?? []).length > 0
  return (
    <ObjectPage
      name={name}
      back={back}
      state={<StateMark {...volumeState(volume)} isFilled />}
      actions={
        <DeleteButton
          name={name}
          text="What is on it is lost. This can not be taken back. It has to be detached first."
          back={back}
          store={volumes}
          run={async () => one(await api.DELETE('/v1/volumes/{object}', { params }))}
        />
      }
    >
      <Why {...explained} />
      <section class="card" aria-labelledby="users">
        <div class="card-head">
          <h2 id="users">Who uses it</h2>
        </div>
        <div class="card-body">
          {isAttached ? (
            <Users volume={volume} />
          ) : (
            <>
              <p class="soft">No instance has it.</p>
              {mayOperate.value && volume.state === VolumeState.Available && <AttachForm volume={volume} />}
            </>
          )}
        </div>
      </section>
      <section class="card" aria-label="Facts">
        <dl class="facts card-body">
          <Fact label="Size">
            <span class="number">{volume.size_mb} MiB</span>
          </Fact>
          <Fact label="Created">{volume.created_at === undefined ? '' : fullTime(volume.created_at)}</Fact>
          <Fact label="Identifier">
            <span class="mono small">{uuid}</span>
          </Fact>
        </dl>
      </section>
      <LatestEvents uuid={uuid} />
    </ObjectPage>
  )
}

function Users({ volume }: { readonly volume: Volume }): VNode {
  const detach = (uuid: string): void => {
    const params = { path: { object: volume.uuid } }
    const run = async () =>
      one(await api.PUT('/v1/volumes/{object}/detach', { params, body: { from: { uuid } } }))
    void attempt(run, `${volume.name} was detached.`).then(() => volumes.refreshSoon())
  }
  return (
    <ul class="pair members">
      {volume.attached_to?.map(({ uuid, name }) => {
        const instance = instances.value.get(uuid)
        const mount = instance?.volumes?.find((one) => one.uuid === volume.uuid)
        return (
          <li key={uuid}>
            <a href={addressOf('instances', uuid)}>{name}</a>
            <span>
              {instance !== undefined && <StateSign instance={instance} />}
              {mount !== undefined && (
                <span class="soft">
                  {' '}
                  at <code>{mount.at}</code>
                  {mount.readonly && ', it only reads'}
                </span>
              )}
            </span>
            {mayOperate.value && (
              <span>
                <button type="button" class="button" onClick={() => detach(uuid)}>
                  Detach
                </button>
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Gives the volume to an instance, which mounts it at its next start. */
function AttachForm({ volume }: { readonly volume: Volume }): VNode {
  const [target, setTarget] = useState('')
  const [at, setAt] = useState('/data')
  const [readonly, setReadonly] = useState(false)
  const attach = async (): Promise<void> => {
    const params = { path: { object: volume.uuid } }
    const body = { attach_to: { name: target.trim() }, at: at.trim(), readonly }
    await attempt(
      async () => one(await api.PUT('/v1/volumes/{object}/attach', { params, body })),
      `${volume.name} is attached to ${target.trim()}.`,
    )
    volumes.refreshSoon()
  }
  return (
    <form
      class="create-fields attach"
      onSubmit={(event) => {
        event.preventDefault()
        void attach()
      }}
    >
      <div class="form-row">
        <TextField
          name="instance"
          label="Instance"
          hint="The name of a stopped instance."
          value={target}
          onChange={setTarget}
          list="instances"
        />
        <TextField
          name="at"
          label="Path"
          hint="Where the instance sees the volume."
          value={at}
          onChange={setAt}
        />
      </div>
      <datalist id="instances">
        {[...instances.value.values()]
          .filter(({ state }) => state === 'stopped')
          .map(({ uuid, name }) => (
            <option key={uuid} value={name} />
          ))}
      </datalist>
      <CheckField name="readonly" label="The instance only reads" isOn={readonly} onChange={setReadonly} />
      <div class="actions">
        <button type="submit" class="button" disabled={target.trim() === '' || at.trim() === ''}>
          Attach
        </button>
      </div>
    </form>
  )
}

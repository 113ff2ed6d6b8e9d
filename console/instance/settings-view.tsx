import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { durationText, fullTime } from '../frame/time.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Fact } from '../frame/facts.tsx'
import { addressOf } from '../frame/place.ts'
import { mayOperate } from '../account/session.ts'
import { act, Action } from './actions.ts'
import type { Instance } from './mood.ts'

const sleepWords = {
  off: 'never',
  on: 'when it has no connections and requests',
  idle: 'when its connections carry nothing',
} as const

const restartWords = {
  never: 'never',
  always: 'always',
  'on-failure': 'after a failure',
} as const

/** How an instance is configured. */
export function InstanceSettings({ instance }: { readonly instance: Instance }): VNode {
  const { scale_to_zero: sleep, restart_policy: restart } = instance
  return (
    <>
      <Waiting instance={instance} />
      <section class="card" aria-labelledby="settings">
        <div class="card-head">
          <h2 id="settings">Settings</h2>
          {mayOperate.value && instance.clone_of === undefined && (
            <a class="button quiet" href={addressOf('instances', instance.uuid, 'change')}>
              Change
            </a>
          )}
        </div>
        <dl class="facts card-body">
          <Fact label="Image">
            <span class="mono small">{instance.image}</span>
          </Fact>
          <Fact label="Created">
            {instance.created_at === undefined ? '' : fullTime(instance.created_at)}
          </Fact>
          <Fact label="Identifier">
            <span class="mono small">{instance.uuid}</span>
          </Fact>
          <Fact label="Falls asleep">
            {sleepWords[sleep?.policy ?? 'off']}
            {sleep !== undefined && sleep.policy !== 'off' && `, for ${durationText(sleep.cooldown_time_ms)}`}
            {sleep?.stateful === true && '; its memory is kept'}
          </Fact>
          <Fact label="Starts again by itself">{restartWords[restart ?? 'never']}</Fact>
          <Fact label="Memory">
            <span class="number">{instance.memory_mb}</span> MiB
          </Fact>
          <Fact label="Tags">{(instance.tags ?? []).join(' ') || 'none'}</Fact>
          <Fact label="Arguments">
            {(instance.args ?? []).length === 0 ? (
              'those of the image'
            ) : (
              <code>{instance.args?.map((one) => JSON.stringify(one)).join(' ')}</code>
            )}
          </Fact>
        </dl>
      </section>
      <Environment key={instance.uuid} instance={instance} />
      <section class="apart">
        <p class="soft">The same by the command line, with your token in $TOKEN:</p>
        <Command
          label="the command that shows the instance"
          text={`curl -H "Authorization: Bearer $TOKEN" ${apiAddress()}/instances/${instance.name}`}
        />
      </section>
    </>
  )
}

/** The changes that wait for a restart. */
function Waiting({ instance }: { readonly instance: Instance }): VNode | null {
  const { updates = [], state } = instance
  if (updates.length === 0) return null
  const names = updates.map(({ prop }) => prop).join(', ')
  return (
    <section class="card" aria-label="Changes that wait">
      <div class="card-body">
        <p>
          {state === 'standby'
            ? `It sleeps with its memory. A change of ${names} waits for a start that does not go on from it.`
            : `A change of ${names} waits for a restart.`}
        </p>
        {mayOperate.value && (
          <button type="button" class="button" onClick={() => void act(Action.Renew, [instance])}>
            {state === 'standby' ? 'Drop its memory' : 'Restart it'}
          </button>
        )}
      </div>
    </section>
  )
}

/** The variables. Their values are often secrets, so they show when a person asks for them. */
function Environment({ instance }: { readonly instance: Instance }): VNode {
  const [isRevealed, setRevealed] = useState(false)
  const env = Object.entries(instance.env ?? {})
  return (
    <section class="card" aria-labelledby="environment">
      <div class="card-head">
        <h2 id="environment">
          Environment <span class="faint small number">{env.length}</span>
        </h2>
        {env.length > 0 && (
          <button
            type="button"
            class="button quiet"
            aria-pressed={isRevealed}
            onClick={() => setRevealed(!isRevealed)}
          >
            Show the values
          </button>
        )}
      </div>
      <div class="card-body">
        {env.length === 0 ? (
          <p class="soft">It has no variables of its own.</p>
        ) : (
          <dl class="variables mono">
            {env.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{isRevealed ? value : <span class="faint">hidden</span>}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </section>
  )
}

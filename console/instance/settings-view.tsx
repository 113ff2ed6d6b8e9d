import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { durationText, fullTime } from '../frame/time.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Fact } from '../frame/facts.tsx'
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

/** With what an instance was created. */
export function InstanceSettings({ instance }: { readonly instance: Instance }): VNode {
  const { scale_to_zero: sleep, restart_policy: restart } = instance
  return (
    <>
      <section class="card" aria-label="Settings">
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

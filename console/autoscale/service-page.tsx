import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { mayOperate } from '../account/session.ts'
import { readable } from '../event/event-text.ts'
import { useShown } from '../event/on-demand.ts'
import { recentEvents } from '../event/live.ts'
import { api } from '../frame/api.ts'
import { useRepeated } from '../frame/repeated.ts'
import { Confirmation } from '../frame/dialog.tsx'
import { BackIcon, TrashIcon } from '../frame/icons.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf, go } from '../frame/place.ts'
import { clockTime, durationText, fullTime } from '../frame/time.ts'
import { Fact } from '../frame/facts.tsx'
import { sizesText } from './autoscale-page.tsx'
import { configurations, deleteConfiguration, isConfigured } from './configurations.ts'
import type { Configuration } from './configurations.ts'
import { Why } from '../object/why.tsx'
import { LoadOverTime } from './load-view.tsx'
import { TrialView } from './trial-view.tsx'
import { PolicyView } from './policy-view.tsx'

type Explanation = Entry<'ExplainAutoscaleAnswer'>
const explainEveryMs = 5_000

/** How one service is scaled: its size and why, its policies, and what was decided. */
export function ScaledServicePage({ uuid }: { readonly uuid: string }): VNode {
  useShown(configurations)
  const service = configurations.value.value?.get(uuid)
  const above = (
    <a class="back small" href={addressOf('autoscale')}>
      <BackIcon />
      Autoscale
    </a>
  )
  if (service === undefined || !isConfigured(service)) {
    const isKnown = configurations.value.value !== undefined
    return (
      <Page title={service?.name ?? 'Autoscale'} above={above}>
        <p class="soft">
          {isKnown ? 'No service is scaled under this address.' : (configurations.problem.value ?? ' ')}
        </p>
      </Page>
    )
  }
  return (
    <Page
      title={service.name}
      above={above}
      actions={mayOperate.value ? <DeleteButton service={service} /> : undefined}
    >
      <Scaled service={service} />
    </Page>
  )
}

function Scaled({ service }: { readonly service: Configuration }): VNode {
  const last = recentEvents.value.find(({ object }) => object.uuid === service.uuid)?.id
  // Loads have no events, so it is read now and then besides.
  const { known: explanation, problem } = useRepeated(
    async (signal) => {
      const params = { path: { object: service.uuid } }
      return one(await api.GET('/v1/services/{object}/autoscale/explain', { params, signal }))
    },
    explainEveryMs,
    [service, last],
  )
  const { policies = [] } = service
  return (
    <>
      <Why explanation={explanation} problem={problem} />
      <Facts service={service} explanation={explanation} />
      {policies.length === 0 && (
        <p class="soft">It has no policy, so its size stays. Add one by the API or the command line.</p>
      )}
      {policies.map((policy) => (
        <PolicyView
          key={policy.name}
          service={service}
          policy={policy}
          value={explanation?.metrics?.[policy.metric]}
        />
      ))}
      {policies.length > 0 && (
        <>
          <LoadOverTime service={service} decidedAt={explanation?.decisions.map(({ at }) => at) ?? []} />
          <TrialView service={service} />
        </>
      )}
      <Decisions explanation={explanation} />
    </>
  )
}

function Facts(props: {
  readonly service: Configuration
  readonly explanation: Explanation | undefined
}): VNode {
  const { service, explanation } = props
  const { master, warmup_time_ms: warmup = 0, cooldown_time_ms: cooldown = 0 } = service
  return (
    <section class="card" aria-label="Facts">
      <dl class="facts card-body">
        <Fact label="Size now">
          <span class="number">{explanation?.size ?? '–'}</span>
          {explanation?.target !== undefined && <span class="soft">, {explanation.target} wanted</span>}
        </Fact>
        <Fact label="Bounds">{sizesText(service)}</Fact>
        <Fact label="Clones of">
          {master === undefined ? '–' : <a href={addressOf('instances', master.uuid)}>{master.name}</a>}
        </Fact>
        <Fact label="A new one counts after">{durationText(warmup)}</Fact>
        <Fact label="One that leaves drains for">at most {durationText(cooldown)}</Fact>
      </dl>
    </section>
  )
}

function Decisions({ explanation }: { readonly explanation: Explanation | undefined }): VNode {
  const decisions = explanation?.decisions ?? []
  return (
    <section class="card" aria-labelledby="decisions">
      <div class="card-head">
        <h2 id="decisions">Latest decisions</h2>
      </div>
      <div class="card-body">
        {decisions.length === 0 ? (
          <p class="soft">Nothing was decided yet. Each change of the size shows here with its reason.</p>
        ) : (
          <ol class="events">
            {decisions.map(({ at, what }) => (
              <li key={`${at} ${what}`} class="decision">
                <time class="number faint small" dateTime={at} title={fullTime(at)}>
                  {clockTime(at)}
                </time>
                <span>{readable(what)}</span>
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  )
}

function DeleteButton({ service }: { readonly service: Configuration }): VNode {
  const [isAsking, setAsking] = useState(false)
  const remove = async (): Promise<void> => {
    if (await deleteConfiguration(service)) go(addressOf('autoscale'))
  }
  return (
    <>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        <TrashIcon />
        Delete the configuration
      </button>
      {isAsking && (
        <Confirmation
          title={`Stop scaling ${service.name}?`}
          text="Its clones are given back and its policies are deleted. The service stays, and so does the instance that is cloned; it is started if it is stopped."
          action="Delete"
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}

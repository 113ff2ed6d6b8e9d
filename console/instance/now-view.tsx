import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { pause } from '../../src/client/pause.ts'
import { EventList } from '../event/event-list.tsx'
import { readable } from '../event/event-text.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { addressOf } from '../frame/place.ts'
import { ageOf, fullTime } from '../frame/time.ts'
import type { Instance } from './mood.ts'
import { ObjectEvents } from './object-events.ts'
import { imageName } from './selection.ts'

const shownEvents = 8
const explainEveryMs = 5_000

/** How an instance is now, why, and what comes next. */
export function InstanceNow({ instance }: { readonly instance: Instance }): VNode {
  const events = useMemo(() => new ObjectEvents(instance.uuid), [instance.uuid])
  useEffect(() => void events.readMore(), [events])
  const all = events.all.value
  return (
    <>
      <Why instance={instance} />
      <section class="card" aria-label="Facts">
        <Facts instance={instance} />
      </section>
      <section class="card" aria-labelledby="latest">
        <div class="card-head">
          <h2 id="latest">Latest events</h2>
          {all.length > shownEvents && (
            <a href={addressOf('instances', instance.uuid, 'timeline')}>All events</a>
          )}
        </div>
        <div class="card-body latest">
          {events.problem.value === undefined ? (
            <EventList events={all.slice(0, shownEvents)} isOfOne />
          ) : (
            <p class="soft">{events.problem.value}</p>
          )}
        </div>
      </section>
    </>
  )
}

/** What it does at present and why, and what comes next, as the API explains it. */
function Why({ instance }: { readonly instance: Instance }): VNode {
  const { explanation, problem } = useExplanation(instance)
  return (
    <section class="why" aria-label="Why it is so" aria-busy={explanation === undefined}>
      {explanation?.failure !== undefined && <p class="problem">{readable(explanation.failure)}</p>}
      <p>{explanation === undefined ? problem : readable(explanation.now)}</p>
      <p class="soft">{explanation !== undefined && `Next: ${readable(explanation.next)}`}</p>
      {explanation?.note !== undefined && <p class="faint small">{readable(explanation.note)}</p>}
    </section>
  )
}

/** The explanation, read again when the instance changes, and now and then besides: it names requests. */
function useExplanation(instance: Instance) {
  const [explanation, setExplanation] = useState<Entry<'ExplainInstancesAnswer'>>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    const read = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        const params = { path: { object: instance.uuid } }
        try {
          setExplanation(
            one(await api.GET('/v1/instances/{object}/explain', { params, signal: ended.signal })),
          )
        } catch (error) {
          if (ended.signal.aborted) return
          setProblem(sentenceOf(error))
        }
        await pause(explainEveryMs, ended.signal)
      }
    }
    void read()
    return () => ended.abort()
  }, [instance])
  return { explanation, problem }
}

function Facts({ instance }: { readonly instance: Instance }): VNode {
  const { service_group: service, started_at: startedAt } = instance
  const domain = service?.domains[0]?.fqdn
  return (
    <dl class="facts card-body">
      <Fact label="Address">
        {domain === undefined ? (
          <span class="faint">none, it is in no service</span>
        ) : (
          <a href={publicAddress(domain)} target="_blank" rel="noreferrer">
            {domain}
          </a>
        )}
      </Fact>
      <Fact label="Private address">
        {instance.private_fqdn} <span class="faint number">{instance.private_ip}</span>
      </Fact>
      <Fact label="Image">{imageName(instance)}</Fact>
      <Fact label="Size">
        <span class="number">
          {instance.memory_mb} MiB, {instance.vcpus} {instance.vcpus === 1 ? 'processor' : 'processors'}
        </span>
      </Fact>
      <Fact label="Last start">
        {startedAt === undefined ? 'never' : <span title={fullTime(startedAt)}>{ageOf(startedAt)} ago</span>}
      </Fact>
      <Fact label="Boot time">
        {instance.boot_time_us === undefined ? '–' : `${Math.round(instance.boot_time_us / 1_000)} ms`}
      </Fact>
      <Fact label="Starts">
        <span class="number">{instance.start_count ?? 0}</span>
        {(instance.restart_count ?? 0) > 0 && (
          <span class="soft">, {instance.restart_count} by its policy</span>
        )}
      </Fact>
      <Fact label="Volumes">
        {(instance.volumes ?? []).length === 0
          ? 'none'
          : instance.volumes?.map(({ name, at }) => `${name} at ${at}`).join(', ')}
      </Fact>
    </dl>
  )
}

export function Fact(props: { readonly label: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}

/** Where the console was opened by its public name, services have public names on the same port. */
function publicAddress(domain: string): string {
  const port = location.hostname.startsWith('console.') && location.port !== '' ? `:${location.port}` : ''
  return `https://${domain}${port}/`
}

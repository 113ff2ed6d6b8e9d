import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { who } from '../account/session.ts'
import { api } from '../frame/api.ts'
import { Fact } from '../frame/facts.tsx'
import { addressOf } from '../frame/place.ts'
import { ageOf, fullTime } from '../frame/time.ts'
import { LatestEvents } from '../object/latest-events.tsx'
import { useExplanation, Why } from '../object/why.tsx'
import { DomainLink } from '../service/domain-link.tsx'
import type { Instance } from './mood.ts'
import { imageName } from './selection.ts'

/** How an instance is now, why, and what comes next. */
export function InstanceNow({ instance }: { readonly instance: Instance }): VNode {
  const explained = useExplanation(instance, async (signal) => {
    const params = { path: { object: instance.uuid } }
    return one(await api.GET('/v1/instances/{object}/explain', { params, signal }))
  })
  return (
    <>
      <Why {...explained} />
      <section class="card" aria-label="Facts">
        <Facts instance={instance} host={explained.explanation?.host} />
      </section>
      <LatestEvents uuid={instance.uuid} all={addressOf('instances', instance.uuid, 'timeline')} />
    </>
  )
}

function Facts(props: { readonly instance: Instance; readonly host: string | undefined }): VNode {
  const { instance, host } = props
  const { service_group: service, started_at: startedAt } = instance
  const domain = service?.domains[0]?.fqdn
  return (
    <dl class="facts card-body">
      <Fact label="Address">
        {domain === undefined ? (
          <span class="faint">none, it is in no service</span>
        ) : (
          <DomainLink fqdn={domain} />
        )}
      </Fact>
      <Fact label="Private address">
        {instance.private_fqdn} <span class="faint number">{instance.private_ip}</span>
      </Fact>
      <Fact label="Host">{host === undefined ? '–' : <HostName name={host} />}</Fact>
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

/** The page of a host is for administrators. */
function HostName({ name }: { readonly name: string }): VNode {
  return who.value?.admin === true ? <a href={addressOf('hosts', name)}>{name}</a> : <>{name}</>
}

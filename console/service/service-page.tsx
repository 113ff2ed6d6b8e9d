import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { Fact } from '../frame/facts.tsx'
import { addressOf } from '../frame/place.ts'
import { fullTime } from '../frame/time.ts'
import { StateSign } from '../instance/state-sign.tsx'
import { instances } from '../instance/store.ts'
import { LatestEvents } from '../object/latest-events.tsx'
import { AbsentObject, DeleteButton, ObjectPage } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { useShown } from '../event/on-demand.ts'
import { useExplanation, Why } from '../object/why.tsx'
import { who } from '../account/session.ts'
import { ChangeServicePage } from './change-page.tsx'
import { DeployPage } from '../rollout/deploy-page.tsx'
import { DomainLink } from './domain-link.tsx'
import { RolloutsCard } from '../rollout/rollouts-card.tsx'
import { serviceByUuid, services, serviceState } from './store.ts'
import type { Service } from './store.ts'
import { Traffic } from './traffic.tsx'
import { ServiceUsage } from './usage-view.tsx'

const back = { title: 'Services', address: addressOf('services') }

/** One service: what a request to it meets and why, who serves, how much and how fast. */
export function ServicePage({ uuid, part }: { readonly uuid: string; readonly part?: string }): VNode {
  useShown(services)
  const service = serviceByUuid.value.get(uuid)
  if (service === undefined) return <AbsentObject word="service" back={back} store={services} />
  if (part === 'deploy') return <DeployPage service={service} />
  if (part === 'change') return <ChangeServicePage service={service} />
  return <Present service={service} />
}

function Present({ service }: { readonly service: Service }): VNode {
  const { uuid, name } = service
  const path = { object: uuid }
  const explained = useExplanation(service, async (signal) =>
    one(await api.GET('/v1/services/{object}/explain', { params: { path }, signal })),
  )
  const { services: ports = [], domains = [] } = explained.explanation ?? {}
  const doesAtPort = new Map(ports.map(({ port, does }) => [port, does]))
  const doesAtDomain = new Map(domains.map(({ fqdn, does }) => [fqdn, does]))
  return (
    <ObjectPage
      name={name}
      back={back}
      state={<StateMark {...serviceState(service)} isFilled />}
      actions={<Actions service={service} />}
    >
      <Why {...explained} />
      <div class="halves">
        <Domains service={service} does={doesAtDomain} />
        <Ports service={service} does={doesAtPort} />
      </div>
      <Members service={service} />
      <RolloutsCard service={service} explanation={explained.explanation?.rollout} />
      <ServiceUsage uuid={uuid} />
      <Traffic uuid={uuid} />
      <section class="card" aria-label="Facts">
        <dl class="facts card-body">
          <Fact label="Requests at once per instance">
            <span class="number">{service.soft_limit}</span>
            <span class="soft"> wanted, </span>
            <span class="number">{service.hard_limit}</span>
            <span class="soft"> at most</span>
          </Fact>
          <Fact label="Autoscale">{service.autoscale === true ? 'yes' : 'no'}</Fact>
          <Fact label="Created">{service.created_at === undefined ? '' : fullTime(service.created_at)}</Fact>
          <Fact label="Identifier">
            <span class="mono small">{uuid}</span>
          </Fact>
        </dl>
      </section>
      <LatestEvents uuid={uuid} />
    </ObjectPage>
  )
}

function Actions({ service: { uuid, name } }: { readonly service: Service }): VNode {
  const params = { path: { object: uuid } }
  return (
    <>
      <a class="button" href={addressOf('services', uuid, 'deploy')}>
        Deploy
      </a>
      {who.value?.services === null && (
        <>
          <a class="button" href={addressOf('services', uuid, 'change')}>
            Change
          </a>
          <DeleteButton
            name={name}
            text="Its public names lead nowhere then. The service can be deleted when it has no instances."
            back={back}
            store={services}
            run={async () => one(await api.DELETE('/v1/services/{object}', { params }))}
          />
        </>
      )}
    </>
  )
}

function Domains(props: { readonly service: Service; readonly does: ReadonlyMap<string, string> }): VNode {
  const { domains = [] } = props.service
  return (
    <section class="card" aria-labelledby="domains">
      <div class="card-head">
        <h2 id="domains">Domains</h2>
      </div>
      <div class="card-body">
        {domains.length === 0 ? (
          <p class="soft">It has none: only your own instances reach it.</p>
        ) : (
          <ul class="pair">
            {domains.map(({ fqdn, certificate }) => (
              <li key={fqdn}>
                <DomainLink fqdn={fqdn} />
                <span class="soft">{props.does.get(fqdn) ?? ' '}</span>
                {certificate !== undefined && who.value?.services === null && (
                  <a class="small" href={addressOf('certificates', certificate.uuid)}>
                    Its certificate
                  </a>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}

function Ports(props: { readonly service: Service; readonly does: ReadonlyMap<number, string> }): VNode {
  const { services: ports = [] } = props.service
  return (
    <section class="card" aria-labelledby="ports">
      <div class="card-head">
        <h2 id="ports">Ports</h2>
      </div>
      <div class="card-body">
        {ports.length === 0 ? (
          <p class="soft">It publishes none.</p>
        ) : (
          <ul class="pair">
            {ports.map(({ port, destination_port: own, handlers }) => (
              <li key={port}>
                <span class="number">
                  {port} → {own} <span class="faint">{handlers.join(', ')}</span>
                </span>
                <span class="soft">{props.does.get(port) ?? ' '}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}

function Members({ service }: { readonly service: Service }): VNode {
  const { instances: attached = [] } = service
  return (
    <section class="card" aria-labelledby="members">
      <div class="card-head">
        <h2 id="members">Who serves</h2>
        <span class="faint small number">{attached.length}</span>
      </div>
      <div class="card-body">
        {attached.length === 0 ? (
          <p class="soft">
            Nobody yet. Create an instance in this service: give its name as the instance's service, such as{' '}
            <code>{`"service_group": {"name": "${service.name}"}`}</code>.
          </p>
        ) : (
          <ul class="pair members">
            {attached.map(({ uuid, name }) => {
              const instance = instances.value.get(uuid)
              return (
                <li key={uuid}>
                  <a href={addressOf('instances', uuid)}>{name}</a>
                  <span>{instance !== undefined && <StateSign instance={instance} />}</span>
                </li>
              )
            })}
          </ul>
        )}
      </div>
    </section>
  )
}

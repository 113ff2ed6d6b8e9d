import type { VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { useShown } from '../event/on-demand.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { PlusIcon } from '../frame/icons.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf } from '../frame/place.ts'
import { configurations, isConfigured } from './configurations.ts'
import type { Configuration } from './configurations.ts'

/** The services that are scaled by their load. */
export function AutoscalePage(): VNode {
  useShown(configurations)
  const { value: all } = configurations.value
  const scaled = [...(all?.values() ?? [])].filter(isConfigured)
  return (
    <Page title="Autoscale" actions={mayOperate.value && scaled.length > 0 ? <NewLink /> : undefined}>
      {all === undefined ? (
        <p class="soft">{configurations.problem.value ?? ' '}</p>
      ) : scaled.length === 0 ? (
        <NoneScaled />
      ) : (
        <section class="card" aria-label="Services with autoscale">
          <ul class="card-body entries">
            {scaled.map((service) => (
              <ServiceEntry key={service.uuid} service={service} />
            ))}
          </ul>
        </section>
      )}
    </Page>
  )
}

function ServiceEntry({ service }: { readonly service: Configuration }): VNode {
  const { uuid, name, policies = [] } = service
  const count = `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}`
  return (
    <li class="entry many">
      <div class="entry-what">
        <a class="entry-name" href={addressOf('autoscale', uuid)}>
          {name}
        </a>
        <span class="soft">{sizesText(service)}</span>
        <span class="faint small">
          {count}
          {policies.length > 0 && `: ${policies.map((policy) => policy.name).join(', ')}`} · clones of{' '}
          {service.master?.name ?? 'an instance that is gone'}
        </span>
      </div>
    </li>
  )
}

export function sizesText({ min_size: min, max_size: max }: Configuration): string {
  return `${min} to ${max} instances`
}

function NewLink(): VNode {
  return (
    <a class="button main" href={addressOf('autoscale', 'new')}>
      <PlusIcon />
      Scale a service
    </a>
  )
}

function NoneScaled(): VNode {
  const policy = `{"name":"load","type":"step","metric":"cpu","steps":[{"lower_bound":800,"adjustment":1}]}`
  return (
    <section class="card empty" aria-labelledby="none-scaled">
      <h2 id="none-scaled">No service is scaled by its load yet</h2>
      <p class="soft">
        Autoscale makes clones of one instance of a service when its load rises, and gives them back when it
        falls.
      </p>
      {mayOperate.value && <NewLink />}
      <p class="soft">The same by the command line, with your token in $TOKEN:</p>
      <Command
        label="the command that scales a service"
        text={`curl -H "Authorization: Bearer $TOKEN" \\\n  ${apiAddress()}/services/<service>/autoscale \\\n  -d '{"master":{"name":"<instance>"},"policies":[${policy}]}'`}
      />
    </section>
  )
}

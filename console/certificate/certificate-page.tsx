import type { VNode } from 'preact'
import { who } from '../account/session.ts'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { AttemptOutcome } from '../../src/domain/certificate/attempt-report.ts'
import { readable } from '../event/event-text.ts'
import { api } from '../frame/api.ts'
import { Fact } from '../frame/facts.tsx'
import { addressOf } from '../frame/place.ts'
import { clockTime, fullTime } from '../frame/time.ts'
import { LatestEvents } from '../object/latest-events.tsx'
import { HiddenPage } from '../object/list-page.tsx'
import { AbsentObject, DeleteButton, ObjectPage } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { useShown } from '../event/on-demand.ts'
import { useExplanation, Why } from '../object/why.tsx'
import { certificateByUuid, certificates, certificateState } from './store.ts'
import type { Certificate } from './store.ts'

type Attempt = Entry<'ExplainCertificatesAnswer'>['attempts'][number]

const back = { title: 'Certificates', address: addressOf('certificates') }

const outcomeWords: Readonly<Record<AttemptOutcome, string>> = {
  [AttemptOutcome.Issued]: 'issued',
  [AttemptOutcome.Failed]: 'failed',
  [AttemptOutcome.Later]: 'put off by the authority',
  [AttemptOutcome.Paced]: 'put off until you may order again',
  [AttemptOutcome.Refused]: 'refused',
}

/** One certificate: its state and why, what was tried, and what to do. */
export function CertificatePage({ uuid }: { readonly uuid: string }): VNode {
  useShown(certificates)
  const certificate = certificateByUuid.value.get(uuid)
  if (who.value?.services !== null) return <HiddenPage title="Certificates" plural="certificates" />
  if (certificate === undefined) return <AbsentObject word="certificate" back={back} store={certificates} />
  return <Present certificate={certificate} />
}

function Present({ certificate }: { readonly certificate: Certificate }): VNode {
  const { uuid, name } = certificate
  const params = { path: { object: uuid } }
  const explained = useExplanation(certificate, async (signal) =>
    one(await api.GET('/v1/certificates/{object}/explain', { params, signal })),
  )
  return (
    <ObjectPage
      name={name}
      back={back}
      state={<StateMark {...certificateState(certificate)} isFilled />}
      actions={
        <DeleteButton
          name={name}
          text="It can be deleted when no service uses it. This can not be taken back."
          back={back}
          store={certificates}
          run={async () => one(await api.DELETE('/v1/certificates/{object}', { params }))}
        />
      }
    >
      <Why {...explained} />
      {explained.explanation?.origin === 'requested' && <Attempts all={explained.explanation.attempts} />}
      <section class="card" aria-label="Facts">
        <Facts certificate={certificate} />
      </section>
      <LatestEvents uuid={uuid} />
    </ObjectPage>
  )
}

function Attempts({ all }: { readonly all: readonly Attempt[] }): VNode {
  return (
    <section class="card" aria-labelledby="attempts">
      <div class="card-head">
        <h2 id="attempts">Attempts to get it</h2>
        <span class="faint small number">{all.length}</span>
      </div>
      <div class="card-body">
        {all.length === 0 ? (
          <p class="soft">There was none yet.</p>
        ) : (
          <ol class="attempts">
            {all.map((attempt) => (
              <OneAttempt key={attempt.number} attempt={attempt} />
            ))}
          </ol>
        )}
      </div>
    </section>
  )
}

function OneAttempt({ attempt }: { readonly attempt: Attempt }): VNode {
  const { number, started_at: startedAt, outcome, authority, failure, problem } = attempt
  return (
    <li>
      <h3>
        Attempt {number}{' '}
        <span class="faint small number" title={fullTime(startedAt)}>
          {clockTime(startedAt)}
        </span>{' '}
        <span class="soft small">
          {outcome === undefined ? 'goes on' : (outcomeWords[outcome as AttemptOutcome] ?? outcome)}
        </span>
      </h3>
      {failure !== undefined && <p class="problem">{readable(failure)}</p>}
      <Sentences title="What to do" all={attempt.to_do} />
      <Sentences title="What it means" all={attempt.means} />
      <Sentences title="What was seen" all={attempt.seen} />
      {problem !== undefined && (
        <p class="soft small">
          The authority{authority === undefined ? '' : ` ${authority}`} wrote: {problem.detail}
        </p>
      )}
    </li>
  )
}

function Sentences(props: { readonly title: string; readonly all: readonly string[] }): VNode | null {
  if (props.all.length === 0) return null
  return (
    <div>
      <h4>{props.title}</h4>
      <ul>
        {props.all.map((sentence) => (
          <li key={sentence}>{readable(sentence)}</li>
        ))}
      </ul>
    </div>
  )
}

function Facts({ certificate }: { readonly certificate: Certificate }): VNode {
  const { service_groups: services = [], not_before: from, not_after: until } = certificate
  return (
    <dl class="facts card-body">
      <Fact label="Domain">{certificate.common_name}</Fact>
      <Fact label="Used by">
        {services.length === 0
          ? 'no service'
          : services.map(({ uuid, name }) => (
              <a key={uuid} class="listed" href={addressOf('services', uuid)}>
                {name}
              </a>
            ))}
      </Fact>
      <Fact label="Valid from">{from === undefined ? '–' : fullTime(from)}</Fact>
      <Fact label="Valid until">{until === undefined ? '–' : fullTime(until)}</Fact>
      <Fact label="Issuer">{certificate.issuer ?? '–'}</Fact>
      <Fact label="Subject">{certificate.subject ?? '–'}</Fact>
      <Fact label="Serial number">
        <span class="mono small">{certificate.serial_number ?? '–'}</span>
      </Fact>
      <Fact label="Identifier">
        <span class="mono small">{certificate.uuid}</span>
      </Fact>
    </dl>
  )
}

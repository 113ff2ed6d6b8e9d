import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { useRepeated } from '../frame/repeated.ts'
import { secondsText } from '../frame/time.ts'

type Metrics = Entry<'GetServiceMetricsAnswer'>

const readEveryMs = 5_000

const outcomes = [
  ['2xx', 'Answered'],
  ['3xx', 'Led elsewhere'],
  ['4xx', 'Refused'],
  ['5xx', 'Failed'],
  ['499', 'Given up by the client'],
  ['1xx', 'Switched to another protocol'],
] as const

/** The shares of requests of which the longest time is told. */
const shares = [
  [0.5, 'Half of them took'],
  [0.99, '99 % of them took'],
] as const

const wakes = [
  ['restore', 'From its kept memory'],
  ['template', 'From a template'],
  ['boot', 'By a boot'],
] as const

/** How many requests there were, how long they took, and how instances woke for them. */
export function Traffic({ uuid }: { readonly uuid: string }): VNode {
  const { known: metrics, problem } = useRepeated(
    async (signal) => {
      const params = { path: { object: uuid } }
      return one(await api.GET('/v1/services/{object}/metrics', { params, signal }))
    },
    readEveryMs,
    [uuid],
  )
  return (
    <section class="card" aria-labelledby="traffic" aria-busy={metrics === undefined}>
      <div class="card-head">
        <h2 id="traffic">Requests and wakes</h2>
        <span class="faint small">since the gateways started</span>
      </div>
      <div class="card-body halves">
        {problem === undefined ? (
          <>
            <Requests metrics={metrics} />
            <Wakes metrics={metrics} />
          </>
        ) : (
          <p class="soft">{problem}</p>
        )}
      </div>
    </section>
  )
}

function Requests({ metrics }: { readonly metrics: Metrics | undefined }): VNode {
  const counts = metrics?.requests
  const all = counts === undefined ? 0 : Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Requests</th>
          <th scope="col">Number</th>
        </tr>
      </thead>
      <tbody>
        {outcomes.map(([status, word]) => (
          <tr key={status}>
            <th scope="row">
              {word} <span class="faint number">{status}</span>
            </th>
            <td class="number">{counts?.[status] ?? '–'}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Mean time of a request</th>
          <td class="number">
            {metrics === undefined || all === 0 ? '–' : secondsText(metrics.request_seconds / all)}
          </td>
        </tr>
        {shares.map(([share, word]) => (
          <tr key={share}>
            <th scope="row">{word}</th>
            <td class="number">{metrics === undefined ? '–' : withinText(metrics, share)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Wakes({ metrics }: { readonly metrics: Metrics | undefined }): VNode {
  return (
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Wakes and starts</th>
          <th scope="col">Number</th>
          <th scope="col">Mean time</th>
        </tr>
      </thead>
      <tbody>
        {wakes.map(([kind, word]) => {
          const { count, seconds } = metrics?.wakes[kind] ?? { count: undefined, seconds: 0 }
          return (
            <tr key={kind}>
              <th scope="row">{word}</th>
              <td class="number">{count ?? '–'}</td>
              <td class="number">
                {count === undefined || count === 0 ? '–' : secondsText(seconds / count)}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/**
 * How long this share of the requests took at most, as far as the bounds of the durations tell. WebSockets
 * are in no duration.
 */
function withinText({ request_durations: durations, requests }: Metrics, share: number): string {
  const all = Object.values({ ...requests, '1xx': 0 }).reduce((sum, count) => sum + count, 0)
  if (all === 0) return '–'
  const bound = durations.find(({ count }) => count >= share * all)
  if (bound !== undefined) return `at most ${secondsText(bound.within_seconds)}`
  return `more than ${secondsText(durations.at(-1)?.within_seconds ?? 0)}`
}

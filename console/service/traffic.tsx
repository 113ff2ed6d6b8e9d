import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { pause } from '../../src/client/pause.ts'
import { api, sentenceOf } from '../frame/api.ts'
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

const wakes = [
  ['restore', 'From its kept memory'],
  ['template', 'From a template'],
  ['boot', 'By a boot'],
] as const

/** How many requests there were, how long they took, and how instances woke for them. */
export function Traffic({ uuid }: { readonly uuid: string }): VNode {
  const { metrics, problem } = useMetrics(uuid)
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

function useMetrics(uuid: string) {
  const [metrics, setMetrics] = useState<Metrics>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    const read = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        const params = { path: { object: uuid } }
        try {
          setMetrics(one(await api.GET('/v1/services/{object}/metrics', { params, signal: ended.signal })))
          setProblem(undefined)
        } catch (error) {
          if (ended.signal.aborted) return
          setProblem(sentenceOf(error))
        }
        await pause(readEveryMs, ended.signal)
      }
    }
    void read()
    return () => ended.abort()
  }, [uuid])
  return { metrics, problem }
}

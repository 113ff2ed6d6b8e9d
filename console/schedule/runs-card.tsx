import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { fullTime } from '../frame/time.ts'
import { StateMark } from '../object/state-mark.tsx'
import { runState } from './store.ts'
import type { Run, Schedule } from './store.ts'

/** How many of the last runs are shown. */
const shownRuns = 10

/** The last runs of a schedule, with the end of their logs. */
export function RunsCard({ schedule }: { readonly schedule: Schedule }): VNode {
  const [runs, setRuns] = useState<readonly Run[]>([])
  const [problem, setProblem] = useState<string>()
  // They are read again with the schedule, which follows the events.
  useEffect(() => {
    const ended = new AbortController()
    const params = { path: { object: schedule.uuid }, query: { limit: shownRuns, log: true } }
    const read = async (): Promise<void> => {
      try {
        const { signal } = ended
        const entry = one(await api.GET('/v1/schedules/{object}/runs', { params, signal }))
        setRuns(entry.runs)
        setProblem(undefined)
      } catch (error) {
        if (!ended.signal.aborted && !isSessionEnd(error)) setProblem(sentenceOf(error))
      }
    }
    void read()
    return () => ended.abort()
  }, [schedule])
  return (
    <section class="card" aria-labelledby="runs">
      <div class="card-head">
        <h2 id="runs">Last runs</h2>
      </div>
      <div class="card-body">
        {problem !== undefined && <p role="alert">{problem}</p>}
        {runs.length === 0 ? (
          <p class="soft">It has not run yet.</p>
        ) : (
          runs.map((run) => <RunView key={run.uuid} run={run} />)
        )}
      </div>
    </section>
  )
}

function RunView({ run }: { readonly run: Run }): VNode {
  const { scheduled_at: at, reason, log = '' } = run
  return (
    <details class="run">
      <summary>
        <StateMark {...runState(run)} /> <span class="number">{fullTime(at)}</span>
      </summary>
      {reason !== undefined && <p>{reason}</p>}
      {log !== '' && (
        <pre class="small" tabIndex={0} aria-label="The end of its log">
          {log}
        </pre>
      )}
    </details>
  )
}

import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { isEnded } from '../../src/domain/rollout/phase.ts'
import type { RolloutExplanation } from '../../src/domain/rollout/words.ts'
import { mayOperate } from '../account/session.ts'
import { readable } from '../event/event-text.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { Confirmation } from '../frame/dialog.tsx'
import { fullTime } from '../frame/time.ts'
import { attempt } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { changesText, rolloutState, wayBack } from './state.ts'
import type { Rollout } from './state.ts'
import { services } from '../service/store.ts'
import type { Service } from '../service/store.ts'

/** How many of the last rollouts are shown. */
const shownRollouts = 5

/** The last rollouts of a service: how far they are, what was other, and why they went back. */
export function RolloutsCard(props: {
  readonly service: Service
  /** What the newest one does and waits for, if it is not over. */
  readonly explanation: RolloutExplanation | undefined
}): VNode {
  const { service, explanation } = props
  const { rollouts, problem } = useRollouts(service)
  const [newest] = rollouts
  return (
    <section class="card" aria-labelledby="rollouts">
      <div class="card-head">
        <h2 id="rollouts">Rollouts</h2>
        {newest !== undefined && mayOperate.value && <GoBack service={service} rollout={newest} />}
      </div>
      <div class="card-body">
        {problem !== undefined && <p role="alert">{problem}</p>}
        {rollouts.length === 0 ? (
          <p class="soft">No new version was deployed yet.</p>
        ) : (
          <ul class="pair">
            {rollouts.map((rollout) => (
              <RolloutView
                key={rollout.uuid}
                rollout={rollout}
                explanation={rollout === newest ? explanation : undefined}
              />
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}

/** They are read again with the service, which follows the events. */
function useRollouts(service: Service) {
  const [rollouts, setRollouts] = useState<readonly Rollout[]>([])
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const params = { path: { object: service.uuid }, query: { limit: shownRollouts } }
    const read = async (): Promise<void> => {
      try {
        setRollouts(one(await api.GET('/v1/services/{object}/rollouts', { params, signal })).rollouts)
        setProblem(undefined)
      } catch (error) {
        if (!signal.aborted && !isSessionEnd(error)) setProblem(sentenceOf(error))
      }
    }
    void read()
    return () => ended.abort()
  }, [service])
  return { rollouts, problem }
}

function RolloutView(props: {
  readonly rollout: Rollout
  readonly explanation: RolloutExplanation | undefined
}): VNode {
  const { rollout, explanation } = props
  const { phase, percent, since, created_at: begun, ended_at: ended, reason } = rollout
  // Both are read by requests of their own, so one of them may be a moment older.
  const goesOn = !isEnded(phase) && explanation?.phase === phase ? explanation : undefined
  return (
    <li>
      <span>
        <StateMark {...rolloutState(rollout)} />
        {percent !== undefined && <span class="soft number"> {percent} %</span>}
      </span>
      <span>{changesText(rollout)}</span>
      {goesOn !== undefined && (
        <span>
          {readable(goesOn.now)}. <span class="soft">Next: {readable(goesOn.next)}.</span>
        </span>
      )}
      {reason !== undefined && <span>{readable(reason)}</span>}
      <span class="soft small">
        Begun {fullTime(begun)}
        {ended === undefined ? `, in this phase since ${fullTime(since)}` : `, over ${fullTime(ended)}`}
      </span>
    </li>
  )
}

function GoBack(props: { readonly service: Service; readonly rollout: Rollout }): VNode | null {
  const [asks, setAsks] = useState(false)
  const { uuid, name } = props.service
  const text = wayBack(props.rollout)
  if (text === undefined) return null
  const confirm = async (): Promise<void> => {
    const params = { path: { object: uuid } }
    await attempt(
      async () => one(await api.PUT('/v1/services/{object}/rollback', { params })),
      `${name} goes back to the old version.`,
    )
    services.refreshSoon()
  }
  return (
    <>
      <button type="button" class="button" onClick={() => setAsks(true)}>
        Go back
      </button>
      {asks && (
        <Confirmation
          title={`Go back to the old version of ${name}?`}
          text={text}
          action="Go back"
          onConfirm={() => void confirm()}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  )
}

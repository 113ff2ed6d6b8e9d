import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { SearchIcon } from '../frame/icons.tsx'
import { LogFollower } from './log-follower.ts'
import type { LogLine } from './log-lines.ts'

const lineHeight = 20
const overscan = 20
/** A person who scrolls up this far does not follow any more. */
const followDistance = 40

/**
 * The log of an instance. It follows what is added, and shows only the lines that have the words which a
 * person searches for.
 */
export function InstanceLog({ uuid }: { readonly uuid: string }): VNode {
  const follower = useMemo(() => new LogFollower(uuid), [uuid])
  const [words, setWords] = useState('')
  useEffect(() => {
    const ended = new AbortController()
    void follower.follow(ended.signal)
    return () => ended.abort()
  }, [follower])
  const all = follower.lines.value
  const wanted = words.toLowerCase()
  const lines = useMemo(
    () => (wanted === '' ? all : all.filter(({ text }) => text.toLowerCase().includes(wanted))),
    [all, wanted],
  )
  return (
    <section class="card log" aria-label="Log" aria-busy={!follower.isRead.value}>
      <div class="bar">
        <label class="search">
          <span class="unseen">Show lines with</span>
          <SearchIcon />
          <input
            class="input"
            type="search"
            placeholder="Show lines with …"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <span class="soft number" role="status">
          {follower.problem.value ?? countText(lines.length, all.length)}
        </span>
      </div>
      <Lines lines={lines} words={wanted} isCut={follower.isCut.value && wanted === ''} />
      {follower.isRead.value && all.length === 0 && (
        <p class="none soft">It has printed nothing yet. What it prints shows here at once.</p>
      )}
    </section>
  )
}

function countText(some: number, all: number): string {
  const word = all === 1 ? 'line' : 'lines'
  return some === all ? `${all} ${word}` : `${some} of ${all} ${word}`
}

/** Lines of equal height, of which only the visible ones are in the page. */
function Lines(props: {
  readonly lines: readonly LogLine[]
  readonly words: string
  readonly isCut: boolean
}): VNode {
  const box = useRef<HTMLDivElement>(null)
  const [first, setFirst] = useState(0)
  const [follows, setFollows] = useState(true)
  const count = props.lines.length
  const look = (): void => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {}
    setFirst(Math.floor(scrollTop / lineHeight))
    setFollows(scrollHeight - scrollTop - clientHeight < followDistance)
  }
  const toEnd = (): void => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
    look()
  }
  useLayoutEffect(() => {
    if (follows) toEnd()
  }, [props.lines, follows])
  const visible = Math.ceil((box.current?.clientHeight ?? 600) / lineHeight)
  const from = Math.max(0, Math.min(first, count - visible) - overscan)
  return (
    <>
      <div
        ref={box}
        class="log-lines"
        tabIndex={0}
        role="region"
        aria-label="Lines of the log"
        onScroll={look}
      >
        {props.isCut && <p class="log-cut faint small">Earlier lines are not shown.</p>}
        <div class="log-body" style={{ height: `${count * lineHeight}px` }}>
          {props.lines.slice(from, first + visible + overscan).map(({ number, text }, index) => (
            <div
              key={number}
              class="log-line"
              style={{ transform: `translateY(${(from + index) * lineHeight}px)` }}
            >
              <Marked text={text} words={props.words} />
            </div>
          ))}
        </div>
      </div>
      {!follows && count > 0 && (
        <button type="button" class="button log-end" onClick={toEnd}>
          ↓ Follow the end
        </button>
      )}
    </>
  )
}

/** A line with the words that were searched for marked. */
function Marked({ text, words }: { readonly text: string; readonly words: string }): VNode {
  const at = words === '' ? -1 : text.toLowerCase().indexOf(words)
  if (at < 0) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </>
  )
}

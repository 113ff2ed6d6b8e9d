import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'

/** Rows beyond the visible ones, so that a quick scroll shows no gap. */
const overscan = 8
const wideHeight = 46
/** The same as in `rows.css`: below it, rows have two lines. */
const narrow = matchMedia('(max-width: 48rem)')
const narrowHeight = 62

export interface RowsProps {
  readonly label: string
  readonly count: number
  readonly rowHeight: number
  readonly head: ComponentChildren
  /** The cells of a row. */
  readonly row: (index: number) => ComponentChildren
  readonly keyOf: (index: number) => string
  readonly onOpen: (index: number) => void
  /** Absent: rows can not be selected. */
  readonly onSelect?: (index: number) => void
  readonly isSelected?: (index: number) => boolean
}

/**
 * A list of rows of equal height, of which only the visible ones are in the page. It has one place in the
 * order of the Tab key; the arrows move a mark inside.
 */
export function VirtualRows(props: RowsProps): VNode {
  const { count, rowHeight } = props
  const grid = useRef<HTMLDivElement>(null)
  const { first, visible } = useWindow(grid, rowHeight)
  const [marked, setMarked] = useState(-1)
  const mark = Math.min(marked, count - 1)
  const show = (index: number): void => {
    setMarked(index)
    scrollTo(grid.current, index, rowHeight)
  }
  const from = Math.max(0, Math.min(first, count - visible) - overscan)
  const to = Math.min(count, first + visible + overscan)
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset)
  return (
    <div
      ref={grid}
      class={props.onSelect === undefined ? 'rows plain' : 'rows'}
      role="grid"
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-multiselectable={props.onSelect === undefined ? undefined : 'true'}
      aria-activedescendant={indexes.includes(mark) ? `row-${mark}` : undefined}
      tabIndex={0}
      onFocus={() => mark < 0 && setMarked(0)}
      onKeyDown={(event) => {
        const next = moved(event.key, { mark, count, page: visible - 2 })
        if (next !== undefined) show(next)
        else if (event.key === 'Enter' && mark >= 0) props.onOpen(mark)
        else if (event.key === ' ' && mark >= 0) props.onSelect?.(mark)
        else return
        event.preventDefault()
      }}
    >
      <div class="row rows-head" role="row" aria-rowindex={1}>
        {props.head}
      </div>
      <div class="rows-body" role="rowgroup" style={{ height: `${count * rowHeight}px` }}>
        {indexes.map((index) => (
          <div
            key={props.keyOf(index)}
            id={`row-${index}`}
            class={index === mark ? 'row marked' : 'row'}
            role="row"
            aria-rowindex={index + 2}
            aria-selected={props.isSelected?.(index)}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
            onClick={() => props.onOpen(index)}
          >
            {props.row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** The first visible row and how many there are. */
function useWindow(grid: { readonly current: HTMLElement | null }, rowHeight: number) {
  const [seen, setSeen] = useState({ first: 0, visible: 20 })
  const look = (): void => {
    const { scrollTop = 0, clientHeight = 0 } = grid.current ?? {}
    const first = Math.floor(scrollTop / rowHeight)
    const visible = Math.ceil(clientHeight / rowHeight) + 1
    setSeen((was) => (was.first === first && was.visible === visible ? was : { first, visible }))
  }
  useLayoutEffect(look, [rowHeight])
  useEffect(() => {
    const element = grid.current
    if (element === null) return undefined
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [rowHeight])
  return seen
}

function moved(
  key: string,
  { mark, count, page }: { readonly mark: number; readonly count: number; readonly page: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: mark + 1,
    ArrowUp: mark - 1,
    PageDown: mark + page,
    PageUp: mark - page,
    Home: 0,
    End: count - 1,
  }
  const next = steps[key]
  return next === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, next))
}

function scrollTo(grid: HTMLElement | null, index: number, rowHeight: number): void {
  if (grid === null) return
  const headHeight = grid.querySelector('.rows-head')?.clientHeight ?? 0
  const top = index * rowHeight
  const bottom = top + rowHeight + headHeight
  if (top < grid.scrollTop) grid.scrollTop = top
  else if (bottom > grid.scrollTop + grid.clientHeight) grid.scrollTop = bottom - grid.clientHeight
}

/** The height of a row, which depends on the width of the window. */
export function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const look = (): void => setNarrow(narrow.matches)
    narrow.addEventListener('change', look)
    return () => narrow.removeEventListener('change', look)
  }, [])
  return isNarrow ? narrowHeight : wideHeight
}

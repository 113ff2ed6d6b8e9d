import { useEffect, useRef } from 'preact/hooks'
import type { VNode } from 'preact'
import { theme } from '../frame/theme.ts'
import type { Chart, ChartTimes, DrawnCharts } from './drawn-charts.ts'

/** Charts below each other. They are for the eye: a sentence beside them has to say what they show. */
export function Charts(props: {
  readonly shown: { readonly charts: readonly Chart[]; readonly times: ChartTimes } | undefined
  /** How many there will be, so that nothing jumps when they are drawn. */
  readonly count: number
}): VNode {
  const { shown, count } = props
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<DrawnCharts | undefined>(undefined)
  const shade = theme.value
  useEffect(() => {
    // Colours are read when the charts are made.
    return () => {
      drawn.current?.remove()
      drawn.current = undefined
    }
  }, [shade])
  useEffect(() => {
    if (shown === undefined) return undefined
    let isOver = false
    // The library is loaded with the first chart, so that no other page waits for it.
    void import('./drawn-charts.ts').then(({ DrawnCharts: Charts }) => {
      if (isOver || place.current === null) return
      const { charts, times } = shown
      if (drawn.current === undefined) drawn.current = new Charts(place.current, charts, times)
      else drawn.current.update(charts, times)
    })
    return () => {
      isOver = true
    }
  }, [shown, shade])
  return (
    <div class="charts" ref={place} aria-hidden="true" style={{ minHeight: `calc(${count} * 13.5rem)` }} />
  )
}

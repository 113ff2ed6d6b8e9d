import UPlot from 'uplot'
import type { AlignedData, Options } from 'uplot'
import { shortDayText, fullTime, minuteText } from '../frame/time.ts'
import type { Span, Values } from './usage-data.ts'

export interface ChartLine {
  readonly label: string
  readonly colour: string
  readonly values: Values
  /** Whether the value changes at once and stays until the next one, like a number of instances. */
  readonly isStepped?: boolean
  /** A bound or another value to compare with: thin, dashed and without a ground. */
  readonly isBound?: boolean
}

/** One chart over time. */
export interface Chart {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly text: (value: number) => string
}

export interface ChartTimes {
  /** In seconds since 1970. */
  readonly times: readonly number[]
  /** Spans with another ground: it slept. */
  readonly sleeps?: readonly Span[]
  /** Moments with a mark, in seconds: it woke, or something was decided. */
  readonly marks?: readonly number[]
}

const height = 150
const axisWidth = 72
const longAxisS = 2 * 86_400
/** All charts of a page show the same moment under the pointer. */
const sync = { key: 'usage' }

/** Charts below each other in an element. */
export class DrawnCharts {
  readonly #plots: readonly UPlot[]
  readonly #resized: ResizeObserver
  #times: ChartTimes

  constructor(into: HTMLElement, charts: readonly Chart[], times: ChartTimes) {
    this.#times = times
    this.#plots = charts.map((chart) => {
      const options = optionsOf(chart, () => this.#times, into.clientWidth)
      return new UPlot(options, dataOf(chart, times), into)
    })
    this.#resized = new ResizeObserver(() => {
      for (const plot of this.#plots) plot.setSize({ width: into.clientWidth, height })
    })
    this.#resized.observe(into)
  }

  /** Shows later values in the same charts. */
  update(charts: readonly Chart[], times: ChartTimes): void {
    this.#times = times
    for (const [index, plot] of this.#plots.entries()) plot.setData(dataOf(charts[index]!, times))
  }

  remove(): void {
    this.#resized.disconnect()
    for (const plot of this.#plots) plot.destroy()
  }
}

function dataOf({ lines }: Chart, { times }: ChartTimes): AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])]
}

function optionsOf({ title, lines, text }: Chart, times: () => ChartTimes, width: number): Options {
  const faint = colourOf('--ink-faint')
  const grid = { stroke: colourOf('--line'), width: 1 }
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const axis = { stroke: faint, font, grid, ticks: { show: false } }
  return {
    width,
    height,
    title,
    cursor: { sync, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(most * 1.1, 0.001)] } },
    axes: [
      { ...axis, values: (_, times) => [...timesText(times)] },
      {
        ...axis,
        size: axisWidth,
        values: (_, values) => values.map((value) => (value === 0 ? '0' : text(value))),
      },
    ],
    series: [
      {
        label: 'Time',
        value: (_: UPlot, time: number | null) => (time === null ? '–' : fullTime(isoOf(time))),
      },
      ...lines.map(({ label, colour, isStepped, isBound }) => ({
        label,
        stroke: colourOf(colour),
        ...(isBound === true
          ? { width: 1, dash: [4, 4], points: { show: false } }
          : {
              width: 1.5,
              fill: `color-mix(in srgb, ${colourOf(colour)} 12%, transparent)`,
              points: { size: 3 },
            }),
        ...(isStepped === true && { paths: UPlot.paths.stepped!({ align: 1 }) }),
        value: (_: UPlot, value: number | null) => (value === null ? '–' : text(value)),
      })),
    ],
    hooks: { drawClear: [(plot) => drawSleeps(plot, times())], draw: [(plot) => drawMarks(plot, times())] },
  }
}

/** Times of the day, or days if the axis is longer than some of them. */
function timesText(times: readonly number[]): readonly string[] {
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > longAxisS
  return times.map((time) => (isLong ? shortDayText : minuteText)(isoOf(time)))
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

function drawSleeps(plot: UPlot, { sleeps = [] }: ChartTimes): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = colourOf('--sleeps-soft')
  for (const { fromMs, toMs } of sleeps) {
    const left = plot.valToPos(fromMs / 1_000, 'x', true)
    const right = plot.valToPos(toMs / 1_000, 'x', true)
    ctx.fillRect(left, bbox.top, Math.max(right - left, 1), bbox.height)
  }
  ctx.restore()
}

function drawMarks(plot: UPlot, { marks = [] }: ChartTimes): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = colourOf('--sleeps')
  const size = 4 * devicePixelRatio
  for (const mark of marks) {
    const x = plot.valToPos(mark, 'x', true)
    ctx.beginPath()
    ctx.moveTo(x - size, bbox.top)
    ctx.lineTo(x + size, bbox.top)
    ctx.lineTo(x, bbox.top + 1.6 * size)
    ctx.fill()
  }
  ctx.restore()
}

/** The present colour of a token: canvases do not know `light-dark`. */
function colourOf(token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

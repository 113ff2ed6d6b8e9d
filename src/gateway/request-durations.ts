import { Histogram } from 'prom-client'
import type { HistogramConfiguration } from 'prom-client'

type Label = 'protocol' | 'status' | 'le'
type Values = Awaited<ReturnType<Histogram<Label>['get']>>

/** The counts of one protocol and one class of status. */
interface Series {
  readonly labels: { readonly protocol: string; readonly status: string }
  /** The number of requests by bucket: those above the bucket before it. The last has no upper bound. */
  readonly counts: number[]
  sum: number
}

/** Classes of status by their first digit; the last is the status 499, a client that went away. */
const clientGone = 499
const clientGoneClass = 10

/**
 * The histogram of the requests. It is written for every request, so it counts in plain arrays, and makes
 * the form of the library only when somebody asks. The histogram of the library costs a request ten times
 * as much.
 */
export class RequestDurations extends Histogram<Label> {
  /** The library's own form of this histogram, without values. */
  readonly #form: Histogram<Label>
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #byProtocol = new Map<string, (Series | undefined)[]>()

  constructor(configuration: HistogramConfiguration<Label> & { readonly buckets: number[] }) {
    super(configuration)
    this.#form = new Histogram({ ...configuration, registers: [] })
    this.#name = configuration.name
    this.#bounds = configuration.buckets
  }

  add(protocol: string, status: number, seconds: number): void {
    const statusClass = status === clientGone ? clientGoneClass : Math.floor(status / 100)
    let byStatus = this.#byProtocol.get(protocol)
    if (byStatus === undefined) this.#byProtocol.set(protocol, (byStatus = []))
    const series = (byStatus[statusClass] ??= {
      labels: { protocol, status: statusClass === clientGoneClass ? String(clientGone) : `${statusClass}xx` },
      counts: Array<number>(this.#bounds.length + 1).fill(0),
      sum: 0,
    })
    let bucket = 0
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] ?? 0)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += seconds
  }

  override get(): Promise<Values> {
    return this.getForPromString()
  }

  /** Called by the registry, which prefers it to `get`. */
  async getForPromString(): Promise<Values> {
    const series = [...this.#byProtocol.values()].flat()
    const values = series.flatMap((each) => (each === undefined ? [] : this.#valuesOf(each)))
    return { ...(await this.#form.get()), values }
  }

  #valuesOf({ labels, counts, sum }: Series): Values['values'] {
    const name = this.#name
    let count = 0
    const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
      count += counts[index] ?? 0
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}

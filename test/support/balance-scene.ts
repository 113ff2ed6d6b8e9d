import assert from 'node:assert/strict'
import type { RouteInstance, RouteNode, RouteService } from '../../src/domain/service/route-feed.ts'
import { Balancer } from '../../src/gateway/balance/balancer.ts'
import type { BalanceLimits } from '../../src/gateway/balance/balance-limits.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import type { Admission, Ask, Refusal } from '../../src/gateway/traffic.ts'
import { routeService } from './gateway-http.ts'

interface SceneHost {
  readonly node: RouteNode
}

const never = new AbortController().signal

/** A balancer with its routes and one host. The test sets the host's answers, if it is a fake. */
export class BalanceScene<Host extends SceneHost = SceneHost> {
  readonly table = new RouteTable({ builtIn: [] })
  readonly forgotten: string[] = []
  /** The reasons of all refusals, as the metrics get them. */
  readonly refused: string[] = []
  readonly balancer: Balancer
  readonly host: Host
  service: RouteService
  /** Further hosts beside `host`. */
  hosts: readonly RouteNode[] = []
  /** How far the balancer's clock is ahead of the real one. A test raises this number instead of waiting. */
  skewMs = 0

  constructor(host: Host, over: Partial<RouteService>, limits: Partial<BalanceLimits>) {
    this.host = host
    this.service = routeService(over)
    this.balancer = new Balancer({
      routes: this.table,
      forget: (uuid, boot) => this.forgotten.push(`${uuid} ${boot}`),
      limits: { loadReportMs: 10, ...limits },
      nowMs: () => performance.now() + this.skewMs,
      observer: { woken: () => undefined, refused: (reason) => this.refused.push(reason) },
    })
  }

  tell(
    instances: readonly (readonly [
      uuid: string,
      state: RouteInstance['state'],
      over?: Partial<RouteInstance>,
    ])[],
  ): void {
    this.table.apply({ kind: 'begin', snapshot: true })
    for (const node of [this.host.node, ...this.hosts]) this.table.apply({ kind: 'node', node })
    this.table.apply({ kind: 'service', service: this.service })
    for (const [uuid, state, over = {}] of instances) {
      const { uuid: serviceUuid } = this.service
      this.table.apply({
        kind: 'instance',
        instance: { uuid, name: uuid, serviceUuid, nodeId: 'node-1', state, ...over },
      })
    }
    this.table.apply({ kind: 'end', revision: '1' })
  }

  /** Removes the host from the routes, as its release does. */
  release(): void {
    this.table.apply({ kind: 'begin', snapshot: false })
    this.table.apply({ kind: 'gone', what: 'node', id: this.host.node.id })
    this.table.apply({ kind: 'end', revision: '2' })
  }

  /** Makes another agent join under the host's id. */
  join(host: SceneHost): void {
    this.table.apply({ kind: 'begin', snapshot: false })
    this.table.apply({ kind: 'node', node: host.node })
    this.table.apply({ kind: 'end', revision: '3' })
  }

  admit(over: Partial<Ask> = {}): Admission | Refusal | Promise<Admission | Refusal> {
    return this.balancer.admit({ service: this.service, port: 8080, kind: 'request', signal: never, ...over })
  }

  async admission(over: Partial<Ask> = {}): Promise<Admission> {
    const outcome = await this.admit(over)
    assert(outcome.admitted, JSON.stringify(outcome))
    return outcome
  }
}

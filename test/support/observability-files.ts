import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

export const observability = path.resolve(import.meta.dirname, '../../observability')

/** A query of a dashboard or an alert rule. */
export interface FoundQuery {
  readonly where: string
  readonly expression: string
}

interface Panel {
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly targets?: readonly { readonly expr: string }[]
}

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export function readDashboards(): readonly Dashboard[] {
  const directory = path.join(observability, 'dashboards')
  return readdirSync(directory).map(
    (name) => JSON.parse(readFileSync(path.join(directory, name), 'utf8')) as Dashboard,
  )
}

export function readAlertRules(): readonly AlertRule[] {
  const text = readFileSync(path.join(observability, 'alerts.yml'), 'utf8')
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** All queries, with values in place of Grafana's variables. */
export function allQueries(): readonly FoundQuery[] {
  const ofPanels = readDashboards().flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ where: `${title}, ${panel.title}`, expression: expr })),
    ),
  )
  const ofRules = readAlertRules().map(({ alert, expr }) => ({ where: alert, expression: expr }))
  return [...ofPanels, ...ofRules].map(({ where, expression }) => ({
    where,
    expression: expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$[a-z]+/g, '.*'),
  }))
}

/** What a query needs: metrics with labels, and the values that it compares them with. */
export interface Need {
  readonly metric: string
  /** Matchers as they are written, such as `of="free"`. */
  readonly matchers: readonly string[]
  /** The labels by which the query groups or joins. One of the query's metrics has to have each. */
  readonly grouped: readonly string[]
}

const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const selector = /\b((?:roost|instance|service|process|nodejs)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g

/** Reads the needs out of a query. It knows the names that our metrics begin with. */
export function needsOf(expression: string): readonly Need[] {
  const grouped = [...expression.matchAll(grouping)].flatMap(([, labels = '']) => listed(labels))
  const rest = expression.replaceAll(grouping, ' ')
  return [...rest.matchAll(selector)].map(([, metric = '', matchers = '']) => ({
    metric,
    matchers: listed(matchers),
    grouped,
  }))
}

function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { runInstance } from '../support/instances.ts'
import { allQueries, needsOf, observability } from '../support/observability-files.ts'
import { readAlertRules, readDashboards } from '../support/observability-files.ts'
import { prometheusProgram, startPrometheus } from '../support/prometheus.ts'
import type { Prometheus } from '../support/prometheus.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const limitMs = 60_000
/** Values that are only there after something went wrong. */
const rare = new Set(['roost_api_requests_total status', 'roost_worker_write_seconds_count result'])

/** What Prometheus has to know of a query, each as a query that finds something if it is there. */
function questionsOf(expression: string): readonly string[] {
  const needs = needsOf(expression)
  const any = needs.map(({ metric }) => metric).join('|')
  const grouped = needs[0]?.grouped ?? []
  const ofMetrics = needs.flatMap(({ metric, matchers }) => [
    `count(${metric})`,
    ...matchers.flatMap((matcher) => {
      const [, label = '', values = ''] = /^(\w+)=~?"(.*)"$/.exec(matcher) ?? []
      const isLiteral = /^[\w|-]+$/.test(values) && !rare.has(`${metric} ${label}`)
      return isLiteral
        ? values.split('|').map((value) => `count(${metric}{${label}="${value}"})`)
        : [`count(${metric}{${label}!=""})`]
    }),
  ])
  return [...ofMetrics, ...grouped.map((label) => `count({__name__=~"${any}", ${label}!=""})`)]
}

describe('dashboards and alert rules', () => {
  let stack: Stack
  let names: PublicNames
  let prometheus: Prometheus
  let directory: string
  const uuids: string[] = []

  before(async () => {
    stack = await sharedStack()
    names = openPublicNames(stack)
    directory = await mkdtemp(path.join(tmpdir(), 'roost-prometheus-'))
    const made = await stack.api.one('createTokens', { body: { label: 'prometheus', scopes: ['metrics'] } })
    for (const file of ['operator-token', 'account-token'])
      await writeFile(path.join(directory, file), made.token)
    await writeFile(
      path.join(directory, 'alerts.yml'),
      await readFile(path.join(observability, 'alerts.yml'), 'utf8'),
    )
    // The example of a configuration, with the address of this stack, and quicker.
    const example = await readFile(path.join(observability, 'prometheus.yml'), 'utf8')
    const config = parse(example.replaceAll('127.0.0.1:7070', new URL(stack.apiUrl).host)) as {
      global: Record<string, string>
      scrape_configs: { http_sd_configs?: Record<string, unknown>[] }[]
    }
    config.global = { scrape_interval: '1s', evaluation_interval: '1s' }
    for (const { http_sd_configs: found = [] } of config.scrape_configs)
      for (const each of found) each['refresh_interval'] = '1s'
    const file = path.join(directory, 'prometheus.yml')
    await writeFile(file, stringify(config))
    prometheus = await startPrometheus(file)
    const web = await publish(stack, 'measured', {
      scale_to_zero: { policy: 'on', cooldown_time_ms: 400, stateful: true },
    })
    uuids.push(web.uuid, (await runInstance(stack.api, { name: 'measured-alone', image: 'hello' })).uuid)
    await untilAsleep(stack, web.uuid)
    assert.equal((await names.get(`https://${web.host}/count`)).status, 200)
  })
  after(async () => {
    await prometheus?.close()
    await names?.close()
    for (const uuid of uuids) await stack.api.one('deleteInstances', { object: uuid })
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
  })

  it('are found by a Prometheus with the configuration of the example: all parts, services and instances', async () => {
    const wanted = ['agent', 'api', 'gateway', 'roost-instances', 'roost-services', 'worker']
    await until(
      'all targets are read',
      async () => {
        const targets = await prometheus.targets()
        const healthy = targets.filter(({ health }) => health === 'up')
        const seen = healthy.map(({ labels }) => labels['part'] ?? labels['job'] ?? '').toSorted()
        return seen.join() === wanted.join()
      },
      { limitMs },
    ).catch(async () =>
      assert.fail(`${JSON.stringify(await prometheus.targets(), undefined, 1)}\n${prometheus.said()}`),
    )
  })

  it('ask only for metrics, labels and values that there are', async () => {
    const queries = allQueries()
    assert.ok(queries.length > 60)
    const missing = async (): Promise<readonly string[]> => {
      const found = await Promise.all(
        queries.map(async ({ where, expression }) => {
          await prometheus.query(expression)
          const questions = questionsOf(expression)
          assert.ok(questions.length > 0, `${where} asks for no metric: ${expression}`)
          const answers = await Promise.all(questions.map(async (one) => await prometheus.query(one)))
          return questions.filter((_, index) => answers[index]?.length === 0).map((one) => `${where}: ${one}`)
        }),
      )
      return found.flat()
    }
    let last: readonly string[] = []
    await until('everything is there', async () => (last = await missing()).length === 0, { limitMs }).catch(
      () => assert.deepEqual(last, []),
    )
  })

  it('show a wake by a request', async () => {
    await until(
      'the wake is counted',
      async () => {
        const [wakes] = await prometheus.query('sum(instance_wakes_total{kind="restore"})')
        const [requests] = await prometheus.query('sum(service_requests_total{status="2xx"})')
        return Number(wakes?.value[1]) >= 1 && Number(requests?.value[1]) >= 1
      },
      { limitMs },
    )
  })

  it('say what each panel shows, and what to do at each alert', () => {
    for (const { title, panels, templating } of readDashboards()) {
      assert.ok(templating.list.some(({ name }) => name === 'datasource'))
      for (const panel of panels.filter(({ type }) => type !== 'row'))
        assert.match(panel.description ?? '', /\.$/, `${title}, ${panel.title}`)
    }
    for (const { alert, labels, annotations } of readAlertRules()) {
      assert.match(labels['severity'] ?? '', /^(page|ticket)$/, alert)
      assert.match(annotations['description']?.trim() ?? '', /\.$/, alert)
    }
  })

  it('pass the tests of their rules, of which each alert has one', async () => {
    const tool = prometheusProgram('promtool')
    await run(tool, ['check', 'rules', 'alerts.yml'], { cwd: observability })
    await run(tool, ['check', 'config', path.join(directory, 'prometheus.yml')])
    await run(tool, ['test', 'rules', 'alerts.test.yml'], { cwd: observability })
    const tests = await readFile(path.join(observability, 'alerts.test.yml'), 'utf8')
    const { tests: all } = parse(tests) as { readonly tests: readonly { readonly name: string }[] }
    const tried = new Set(all.map(({ name }) => name))
    const untried = readAlertRules().filter(({ alert }) => !tried.has(alert))
    assert.deepEqual(untried, [])
  })
})

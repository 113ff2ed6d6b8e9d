import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runCli } from '../../../src/cli/program.ts'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import type { SimulatedMoment } from '../../../src/domain/autoscale/simulation.ts'
import type { SimulationReport } from '../../../src/domain/autoscale/simulation-report.ts'

const policy = {
  name: 'load',
  type: 'step',
  steps: [
    { upper_bound: 300, adjustment: -1 },
    { lower_bound: 300, upper_bound: 700, adjustment: 0 },
    { lower_bound: 700, adjustment: 2 },
  ],
}

describe('roost autoscale simulate', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-simulate-'))
  })
  after(() => {
    rmSync(directory, { recursive: true, force: true })
  })

  function file(name: string, content: unknown): string {
    const place = path.join(directory, name)
    writeFileSync(place, typeof content === 'string' ? content : JSON.stringify(content))
    return place
  }

  /** Nothing but the two outputs is touched: another call fails. */
  async function simulate(...args: readonly string[]) {
    let [out, notes] = ['', '']
    const deps = {
      write: (text: string) => void (out += text),
      note: (text: string) => void (notes += text),
    } as CliDeps
    const code = await runCli(['autoscale', 'simulate', ...args], deps)
    return { code, out, notes: notes.replaceAll(`${directory}/`, '') }
  }

  const config = (more: object = {}) => file('config.json', { max_size: 4, policies: [policy], ...more })

  it('tells what would be done when, why, and what it comes to', async () => {
    const load = file('load.csv', 'seconds,load\n# a quiet minute\n0,100\n60,2000\n\n90.5,100\n180,100\n')
    const { code, out } = await simulate('--config', config(), '--load', load, '--every', '30')
    assert.equal(code, 0)
    const lines = out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))
    assert.equal(lines[0], 'SECOND | LOAD (cpu) | PER INSTANCE | SIZE | WARM | NEEDED | WHAT')
    assert.equal(lines[1], '0 | 100 | - | 1 | 1 | 1 | is being observed: 1 of 3 looks at the same instances')
    assert.equal(
      lines[4],
      '61 | 2000 | 700 | 1 | 1 | 3 | goes from 1 to 3: policy load wants 3, because 700 millicores per instance is in its step with lower bound 700 inclusive',
    )
    assert.ok(lines.some((line) => line.startsWith('107 | 100 | 33.3 | 3 | 3 | 1 | goes from 3 to 2: ')))
    assert.match(out, /\n180 s, at most 1000 millicores per instance:\n/)
    assert.match(out, /between 1 and 3 instances, \d+ instance seconds in all/)
    assert.match(out, /\d of direction; 0 failures\n$/)
  })

  it('answers the same in JSON', async () => {
    const { out } = await simulate('--config', config(), '--curve', 'step', '--json', '--seed', '3')
    const { moments, report } = JSON.parse(out) as {
      readonly moments: readonly SimulatedMoment[]
      readonly report: SimulationReport
    }
    assert.equal(report.durationMs, 300_000)
    assert.equal(report.largestSize, 3)
    assert.equal(moments.filter(({ outcome }) => outcome?.kind === 'resize').length, report.resizes)
    const quiet = moments.filter(({ outcome }) => outcome === undefined)
    assert.ok(quiet.length > 20 && quiet.every(({ atMs }) => atMs % 10_000 === 0))
  })

  it('takes the configuration of one service as it is sent to the API, and another metric', async () => {
    const policies = [
      {
        ...policy,
        metric: 'in_flight',
        adjustment_type: 'absolute',
        steps: [{ lower_bound: 5, adjustment: 2 }],
      },
    ]
    const written = file('config.json', [{ name: 'web', master: { name: 'web-1' }, min_size: 1, policies }])
    const args = ['--config', written, '--curve', 'flat', '--high', '8', '--duration', '30']
    const refused = await simulate(...args)
    assert.match(refused.notes, /the load is of in_flight: say with --capacity in_flight=<number>/)
    const { out } = await simulate(...args, '--capacity', 'in_flight=20')
    assert.match(out, /goes from 1 to 2: policy load wants 2, because 8 requests in flight per instance/)
  })

  it('shows what a quota and clones that do not start would come to', async () => {
    const args = ['--config', config(), '--curve', 'flat', '--high', '3000', '--duration', '60']
    const { out } = await simulate(...args, '--failing', '1', '--quota', '2')
    assert.match(out, /but the quota of 2 instances is used up/)
    assert.match(out, /replaces master-1 \(it did not start: its image does not start\)/)
  })

  const steps = (...written: readonly object[]) => ({ policies: [{ ...policy, steps: written }] })
  const flat = ['--curve', 'flat']
  const wrong: [title: string, content: unknown, message: RegExp][] = [
    ['no JSON', '{', /^roost: config\.json is no JSON: /],
    ['no object', '[]', /must be one JSON object/],
    ['several', [{}, {}], /holds 2 configurations/],
    ['an unknown parameter', { polices: [] }, /Unknown parameter 'polices'/],
    [
      'a gap',
      steps({ upper_bound: 1, adjustment: 1 }, { lower_bound: 2, adjustment: 1 }),
      /no gap: .* from 1 to 2/,
    ],
    ['crossed sizes', { min_size: 3, max_size: 2 }, /3 is above 2/],
    ['sizes that are crossed by a default', { min_size: 5 }, /5 and 4 are not/],
    ['more instances than can be simulated', { max_size: 1_001 }, /max_size <= 1000: 1 and 1001 are not/],
  ]
  for (const [title, content, message] of wrong)
    it(`refuses a configuration with ${title}`, async () => {
      const { code, notes, out } = await simulate('--config', file('config.json', content), ...flat)
      assert.deepEqual([code, out], [1, ''])
      assert.match(notes, message)
    })

  const wrongLoads: [content: string, message: string][] = [
    ['0,1\n5,x\n', "load.csv, line 2: the load must be a number from 0 to 1000000000: 'x' is not"],
    ['0,1\n5,-1\n', "load.csv, line 2: the load must be a number from 0 to 1000000000: '-1' is not"],
    [
      '0,1000000001\n',
      "load.csv, line 1: the load must be a number from 0 to 1000000000: '1000000001' is not",
    ],
    ['86401,1\n', "load.csv, line 1: seconds must be a number from 0 to 86400: '86401' is not"],
    ['0,1\n\n5,1\n5,2\n', 'load.csv, line 4: second 5 must come after 5, which is before it'],
    ['0,1,2\n', "load.csv, line 1: '0,1,2' must have the form seconds,load"],
    ['seconds,load\n', 'load.csv has no line of the form seconds,load'],
    ['0,1\n'.repeat(100_001), 'load.csv has 100001 lines, and may have 100000'],
    ['#'.repeat(4_194_305), 'load.csv is larger than 4194304 bytes'],
  ]
  for (const [content, message] of wrongLoads)
    it(`says: ${message}`, async () => {
      const { code, notes } = await simulate('--config', config(), '--load', file('load.csv', content))
      assert.deepEqual([code, notes], [1, `roost: ${message}\n`])
    })

  it('refuses what would take too long', async () => {
    const args = ['--config', config({ max_size: 1_000 }), ...flat, '--duration', '86400']
    const { code, notes } = await simulate(...args)
    assert.equal(code, 1)
    assert.match(notes, /give a --duration of at most 20000/)
  })

  it('refuses to run without a load, and with two', async () => {
    for (const args of [[], [...flat, '--load', 'x']]) {
      const { notes } = await simulate('--config', config(), ...args)
      assert.match(notes, /either with --load or with --curve/)
    }
  })

  it('takes malformed options for wrong arguments', async () => {
    const bad = [
      ['--curve', 'circle'],
      [...flat, '--noise', '101'],
      [...flat, '--period', '1.5'],
      [...flat, '--capacity', 'cpu'],
      [...flat, '--capacity', 'cpu=0'],
      [...flat, '--metric', 'memory'],
    ]
    for (const args of bad)
      assert.equal((await simulate('--config', config(), ...args)).code, 2, args.join(' '))
  })
})

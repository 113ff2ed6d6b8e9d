import { strict as assert } from 'node:assert'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'
import { PlatformEnd } from '../../../src/launch/end-signals.ts'
import type { HaltOutcome } from '../../../src/launch/halt.ts'

const dataDir = '/srv/roost'

describe('roost admin halt', () => {
  async function halt(outcome: HaltOutcome, ...options: readonly string[]) {
    let out = ''
    let notes = ''
    const asked: PlatformEnd[] = []
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: () => assert.fail(),
      withControl: () => assert.fail(),
      readHostLease: () => assert.fail(),
      images: { store: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      doctor: () => assert.fail(),
      platform: {
        dataDir,
        async halt(end) {
          asked.push(end)
          return await Promise.resolve(outcome)
        },
      },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(['halt', ...options], deps)
    return { code, out, notes, asked }
  }

  it('ends virtual machines, unless they are to be kept', async () => {
    const ended = { kind: 'ended', endedVms: 0, leftVms: 0 } as const
    assert.deepEqual((await halt(ended)).asked, [PlatformEnd.EndVms])
    assert.deepEqual((await halt(ended, '--keep-vms')).asked, [PlatformEnd.KeepVms])
  })

  it('says what ended and what runs on', async () => {
    const said = async (endedVms: number, leftVms: number) => {
      const { code, out, notes } = await halt({ kind: 'ended', endedVms, leftVms })
      assert.deepEqual([code, notes], [0, ''])
      return out
    }
    assert.equal(await said(0, 0), 'The platform in /srv/roost has ended. No virtual machine runs.\n')
    assert.equal(
      await said(3, 0),
      'The platform in /srv/roost has ended, and 3 virtual machines with it. No virtual machine runs.\n',
    )
    assert.equal(
      await said(0, 2),
      'The platform in /srv/roost has ended. 2 virtual machines run on, and the next start takes them over.\n',
    )
    assert.equal(
      await said(0, 1),
      'The platform in /srv/roost has ended. 1 virtual machine runs on, and the next start takes it over.\n',
    )
    const { out } = await halt({ kind: 'ended', endedVms: 1, leftVms: 2 }, '--json')
    assert.deepEqual(JSON.parse(out), { dataDir, endedVms: 1, leftVms: 2 })
  })

  it('fails with one sentence where nothing ended', async () => {
    const cases: readonly (readonly [HaltOutcome, RegExp])[] = [
      [
        { kind: 'nothing-runs', leftVms: 0 },
        /^roost: no platform runs in \/srv\/roost \(ROOST_DATA_DIR .*\)$/,
      ],
      [{ kind: 'nothing-runs', leftVms: 2 }, /directory\)\. 2 virtual machines run on, and the next start/],
      [{ kind: 'hidden' }, /^roost: the platform in \/srv\/roost is another user's: .*sudo$/],
      [{ kind: 'still-runs', pid: 7, limitMs: 60_000 }, /\(process 7\) .* still runs after 60 s/],
    ]
    for (const [outcome, words] of cases) {
      const { code, out, notes } = await halt(outcome)
      assert.deepEqual([code, out], [1, ''])
      assert.match(notes.trimEnd(), words)
    }
  })

  it('takes no arguments', async () => {
    const { code, asked } = await halt({ kind: 'ended', endedVms: 0, leftVms: 0 }, 'now')
    assert.deepEqual([code, asked], [2, []])
  })
})

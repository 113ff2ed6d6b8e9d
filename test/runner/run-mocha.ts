import fc from 'fast-check'
import Mocha from 'mocha'
import process from 'node:process'
import { ciSeed } from '../support/ci-seed.ts'
import type { GroupResult } from './group-result.ts'

/**
 * One group's process: `run-mocha.ts <timeout ms> <file>...`. The counts go to the parent over IPC. Nothing here
 * ends the process: a group that leaves a socket or a timer open does not end by itself, and the parent notices.
 */
if (ciSeed !== undefined) fc.configureGlobal({ seed: ciSeed })

const [timeoutMs, ...files] = process.argv.slice(2)
const mocha = new Mocha({ timeout: Number(timeoutMs), forbidOnly: true })
for (const file of files) mocha.addFile(file)
await mocha.loadFilesAsync()

const failures: string[] = []
const runner = mocha.run((failed) => {
  const { passes, pending, failures: failedTests } = runner.stats ?? { passes: 0, pending: 0, failures: 0 }
  const result: GroupResult = {
    passed: passes,
    failed: Math.max(failed, failedTests),
    skipped: pending,
    failures,
  }
  process.exitCode = failed > 0 ? 1 : 0
  process.send?.(result, () => process.disconnect())
})
runner.on('fail', (test) => failures.push(test.fullTitle()))

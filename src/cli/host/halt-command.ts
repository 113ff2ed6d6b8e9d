import type { Command } from 'commander'
import { countOfVms, PlatformEnd } from '../../launch/end-signals.ts'
import type { HaltOutcome } from '../../launch/halt.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

interface HaltOptions extends OutputOptions {
  readonly keepVms?: true
}

export function addHaltCommand(program: Command, deps: CliDeps): void {
  program
    .command('halt')
    .description('end the platform that runs on this machine, as Ctrl-C in its terminal does')
    .option('--keep-vms', 'leave its virtual machines running; the next start takes them over')
    .option('--json', 'answer in JSON')
    .action((options: HaltOptions) => halt(deps, options))
}

async function halt(deps: CliDeps, options: HaltOptions): Promise<void> {
  const { dataDir } = deps.platform
  const end = options.keepVms === true ? PlatformEnd.KeepVms : PlatformEnd.EndVms
  const outcome = await deps.platform.halt(end)
  if (outcome.kind !== 'ended') throw new CliFailure(refusal(outcome, dataDir))
  const { endedVms, leftVms } = outcome
  answer(deps, options, { json: { dataDir, endedVms, leftVms }, text: told(outcome, dataDir) })
}

function told(
  { endedVms, leftVms }: Extract<HaltOutcome, { readonly kind: 'ended' }>,
  dataDir: string,
): string {
  const ended = endedVms > 0 ? `, and ${countOfVms(endedVms)} with it` : ''
  return `The platform in ${dataDir} has ended${ended}. ${leftVms > 0 ? left(leftVms) : 'No virtual machine runs.'}`
}

function refusal(outcome: Exclude<HaltOutcome, { readonly kind: 'ended' }>, dataDir: string): string {
  if (outcome.kind === 'nothing-runs') {
    const running = outcome.leftVms > 0 ? `. ${left(outcome.leftVms)}` : ''
    return `no platform runs in ${dataDir} (ROOST_DATA_DIR names another directory)${running}`
  }
  if (outcome.kind === 'hidden')
    return `the platform in ${dataDir} is another user's: run this command as that user, or with sudo`
  const { pid, limitMs } = outcome
  return (
    `the platform in ${dataDir} (process ${pid}) was told to end and still runs after ${limitMs / 1000} s: ` +
    'its log says what it waits for'
  )
}

function left(vms: number): string {
  return vms === 1
    ? '1 virtual machine runs on, and the next start takes it over.'
    : `${countOfVms(vms)} run on, and the next start takes them over.`
}

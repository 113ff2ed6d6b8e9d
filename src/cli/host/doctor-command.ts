import type { Command } from 'commander'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

const marks = { ok: 'ok     ', warning: 'warning', missing: 'MISSING' } as const

export function addDoctorCommand(program: Command, deps: CliDeps): void {
  program
    .command('doctor')
    .description('say what works on this machine; fails where something that Roost needs is missing')
    .option('--json', 'answer in JSON')
    .action((options: OutputOptions) => doctor(deps, options))
}

async function doctor(deps: CliDeps, options: OutputOptions): Promise<void> {
  const report = await deps.doctor()
  const lines = report.checks.flatMap((check) => [
    `${marks[check.status]}  ${check.name}: ${check.detail}`,
    ...(check.remedy === undefined ? [] : [`         ${check.remedy}`]),
  ])
  answer(deps, options, { json: report, text: lines.join('\n') })
  if (!report.ok) throw new CliFailure('something that Roost needs is missing')
}

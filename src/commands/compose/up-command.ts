import { createInterface } from 'node:readline/promises'
import { CommandFailure } from '../command-failure.ts'
import type { Session } from '../session.ts'
import { readActual } from './actual.ts'
import { carryOut } from './carry-out.ts'
import { desiredOf } from './desired.ts'
import { findingText } from './findings.ts'
import { planText } from './plan-text.ts'
import { planOf, planOfEnd } from './plan.ts'
import type { Step } from './plan.ts'
import { hasFile, openProject, refusal } from './project-files.ts'
import type { ProjectOptions } from './project-files.ts'
import { inOrder } from './project-checks.ts'
import { instanceName, objectName } from './project.ts'
import type { Project } from './project.ts'
import type { Actual } from './states.ts'

export interface UpOptions extends ProjectOptions {
  readonly dryRun?: true
  readonly yes?: true
  readonly removeOrphans?: true
  readonly timeout: number
}

export interface DownOptions extends ProjectOptions {
  readonly volumes?: true
  readonly dryRun?: true
  readonly yes?: true
}

/** Makes a project what its file says: tells the plan first, and carries it out then. */
export async function up(session: Session, options: UpOptions): Promise<void> {
  const { client, deps } = session
  const deadlineMs = Date.now() + options.timeout * 1000
  const project = await read(session, options)
  const { desired, refusals } = await desiredOf(session, project)
  if (refusals.length > 0) throw refusal({ refusals })
  const instances = desired.services.flatMap(({ key, replicas }) =>
    Array.from({ length: replicas }, (_, index) => instanceName(key, project.name, index + 1)),
  )
  const wanted = { instances, volumes: project.volumes.map(({ name }) => name) }
  const actual = await readActual(client, project.name, wanted, deps.signal)
  const plan = planOf(desired, actual, { removesOrphans: options.removeOrphans === true })
  if (plan.refusals.length > 0) throw refusal(plan)
  const text = planText(plan)
  const title = plan.steps.length === 0 ? `${project.name} is as the file says` : `${project.name}:`
  const told = text === '' ? title : `${title}\n${text}`
  if (options.dryRun === true || plan.steps.length === 0) return tellEnd(session, plan.steps, told)
  session.tell(told)
  await confirm(session, 'Is that to be done?', options)
  await carryOut(session, plan.steps, deadlineMs)
  tellEnd(session, plan.steps, `${project.name} is as the file says`)
}

/** Deletes what a project has. Volumes only where that is asked for. */
export async function down(session: Session, options: DownOptions): Promise<void> {
  const { client, deps } = session
  const { name, order, volumes } = await ending(session, options)
  const actual = await readActual(client, name, { instances: [], volumes: volumes ?? [] }, deps.signal)
  const own = volumes ?? mounted(actual, name)
  const steps = planOfEnd(actual, { order, volumes: options.volumes === true ? own : [] })
  const kept = options.volumes === true ? [] : actual.volumes.filter((volume) => own.includes(volume.name))
  const keptText = kept.map((volume) => `\n  the volume ${volume.name} stays; --volumes deletes it`).join('')
  if (steps.length === 0) return tellEnd(session, steps, `${name} has nothing to be deleted${keptText}`)
  const told = `${name}:\n${planText({ steps, orphans: [] })}${keptText}`
  if (options.dryRun === true) return tellEnd(session, steps, told)
  session.tell(told)
  await confirm(session, 'Is that to be deleted?', options)
  await carryOut(session, steps, Number.POSITIVE_INFINITY)
  tellEnd(session, steps, `${name} is deleted${keptText}`)
}

/** What the file says of a project that ends. Its name alone is enough. */
async function ending(
  session: Session,
  options: DownOptions,
): Promise<{
  readonly name: string
  readonly order: readonly string[]
  /** Unknown without a file. */
  readonly volumes?: readonly string[]
}> {
  if (options.projectName !== undefined && !hasFile(options)) {
    return { name: options.projectName.toLowerCase(), order: [] }
  }
  const { name, services, volumes } = await read(session, options)
  return {
    name,
    order: inOrder(services).map(({ key }) => objectName(key, name)),
    volumes: volumes.filter(({ isExternal }) => !isExternal).map((volume) => volume.name),
  }
}

/** The volumes with the name of the project that its instances have. */
function mounted({ instances }: Actual, project: string): readonly string[] {
  const names = instances.flatMap(({ mount }) => mount?.volume ?? [])
  return names.filter((name) => name.endsWith(`.${project}`))
}

async function read(session: Session, options: ProjectOptions): Promise<Project> {
  const found = await openProject(session.deps, options)
  const notes = found.ok ? found.project.notes : found.notes
  for (const note of notes) session.tell(findingText(note))
  if (!found.ok) throw refusal(found)
  return found.project
}

/** The answer of a command. In JSON, the steps have no variables: their values are secrets. */
function tellEnd(session: Session, steps: readonly Step[], text: string): void {
  const json = steps.map((step) => {
    if (!('configuration' in step)) return step
    const { env, ...configuration } = step.configuration
    return { ...step, configuration: { ...configuration, variables: Object.keys(env) } }
  })
  session.answer({ json: { steps: json }, text })
}

/** Asks a person at a terminal. Where nobody sits there, nothing is asked. */
async function confirm({ deps }: Session, question: string, { yes }: { readonly yes?: true }): Promise<void> {
  const { input, errorOutput, isInteractive } = deps.terminal
  if (yes === true || !isInteractive) return
  const lines = createInterface({ input, output: errorOutput })
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal: deps.signal })
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('nothing is changed')
  } finally {
    lines.close()
  }
}

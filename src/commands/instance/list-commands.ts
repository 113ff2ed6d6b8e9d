import { one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { ageText, bytesText, spanText } from '../output.ts'
import type { Column } from '../output.ts'
import type { CommandLine, Session } from '../session.ts'
import { queryOf, untilInterrupted } from '../session.ts'
import { pause } from '../../client/pause.ts'

type Instance = Entry<'GetInstancesAnswer'>

export function addListCommands({ program, session }: CommandLine): void {
  program
    .command('ps [instances...]')
    .description('list instances')
    .action(async (names: readonly string[]) => list(await session(), names))
  program
    .command('inspect <instance>')
    .description('show everything that the API says of an instance')
    .action(async (object: string) => inspect(await session(), object))
  program
    .command('top [instances...]')
    .description('show what instances use, every two seconds until Ctrl-C')
    .option('--once', 'show it once')
    .action(async (names: readonly string[], options: { readonly once?: true }) => {
      const open = await session()
      await untilInterrupted(open.deps, () => top(open, names, options.once === true))
    })
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const nowMs = Date.now()
  const found = await instances(session, names)
  // Only administrators are told of hosts, and it says nothing where all instances are on the same one.
  const hasHosts = new Set(found.map(({ host }) => host)).size > 1
  const shape: readonly Column<Instance>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'STATE', text: stateText },
    { title: 'IMAGE', text: ({ image = '' }) => shortImage(image), shrinks: true },
    { title: 'MEMORY', text: ({ memory_mb: memory }) => `${memory} MiB` },
    ...(hasHosts ? [{ title: 'HOST', text: ({ host = '' }: Instance) => host }] : []),
    { title: 'ADDRESS', text: ({ private_ip: address = '' }) => address },
    { title: 'DOMAINS', text: domainsText, shrinks: true },
    { title: 'AGE', text: ({ created_at: at }) => ageText(at, nowMs) },
  ]
  session.list(found, shape)
}

async function instances(
  { client, deps }: Session,
  names: readonly string[],
  metrics = false,
): Promise<readonly Instance[]> {
  const query = { ...queryOf(names), ...(metrics && { metrics }) }
  return succeeded(await client.GET('/v1/instances', { params: { query }, signal: deps.signal }))
}

async function inspect(session: Session, object: string): Promise<void> {
  const params = { path: { object }, query: { metrics: true } }
  const instance = one(await session.client.GET('/v1/instances/{object}', { params }))
  session.answer({ json: instance, text: JSON.stringify(instance, undefined, 2) })
}

const topPauseMs = 2_000

async function top(session: Session, names: readonly string[], once: boolean): Promise<void> {
  const { deps, wantsJson } = session
  const isLive = !once && !wantsJson && deps.columns !== undefined
  let before = new Map<string, { readonly cpuMs: number; readonly atMs: number }>()
  do {
    const found = await instances(session, names, true)
    const atMs = Date.now()
    const load = ({ uuid, cpu_time_ms: cpuMs = 0 }: Instance): string => {
      const last = before.get(uuid)
      if (last === undefined || atMs === last.atMs) return ''
      return `${Math.round((100 * Math.max(0, cpuMs - last.cpuMs)) / (atMs - last.atMs))} %`
    }
    if (isLive) deps.write('\u001B[H\u001B[J')
    session.list(found, usageShape(load))
    if (!isLive) return
    before = new Map(found.map(({ uuid, cpu_time_ms: cpuMs = 0 }) => [uuid, { cpuMs, atMs }]))
    await pause(topPauseMs, deps.signal)
  } while (!deps.signal.aborted)
}

function usageShape(load: (instance: Instance) => string): readonly Column<Instance>[] {
  return [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'STATE', text: stateText },
    { title: 'CPU', text: load },
    { title: 'CPU TIME', text: ({ cpu_time_ms: ms = 0 }) => spanText(ms) },
    {
      title: 'MEMORY',
      text: ({ rss_bytes: bytes = 0, memory_mb: mb }) => `${bytesText(bytes)} of ${mb} MiB`,
    },
    { title: 'CONNS', text: ({ nconns = 0 }) => String(nconns) },
    { title: 'REQS', text: ({ nreqs = 0 }) => String(nreqs) },
    { title: 'TOTAL', text: ({ ntotal = 0 }) => String(ntotal) },
  ]
}

function stateText({ state, exit_code: exitCode, restart, failure }: Instance): string {
  if (state === undefined) return ''
  if (failure !== undefined) return `${state} (failed)`
  if (restart?.next_at !== undefined) return `${state} (restarts)`
  return state === 'stopped' && exitCode !== undefined ? `${state} (${exitCode})` : state
}

/** The image with the first digits of its digest. */
function shortImage(image: string): string {
  return image.replace(/@sha256:([0-9a-f]{12})[0-9a-f]*$/, '@$1')
}

function domainsText({ service_group: service }: Instance): string {
  return service?.domains.map(({ fqdn }) => fqdn).join(',') ?? ''
}

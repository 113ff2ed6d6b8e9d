import type { Command } from 'commander'
import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { ExplainedKind } from '../../client/explanation.ts'
import { vcpusPerProcessor } from '../../domain/host/placement.ts'
import { explain } from '../instance/explain-command.ts'
import { isUnderWay } from '../../domain/host/upgrade.ts'
import { labelsText } from '../../domain/host/labels.ts'
import type { LabelChange } from '../../domain/host/labels.ts'
import { CommandFailure } from '../command-failure.ts'
import { ageText, spanText } from '../output.ts'
import type { Column } from '../output.ts'
import { balance } from './balance-command.ts'
import type { BalanceOptions } from './balance-command.ts'
import { defaultBalancingMoves, maxBalancingMoves } from '../../contract/limits.ts'
import { drain } from './drain-command.ts'
import type { DrainOptions } from './drain-command.ts'
import { collected, numberOption, queryOf, tellEach, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

type Host = Entry<'GetHostsAnswer'>
type Role = Host['roles'][number]

const roles: readonly Role[] = ['gateway', 'api', 'worker']

/** The commands for hosts. They need the token of an administrator. */
export function addHostCommands({ program, session }: CommandLine): void {
  const host = program.command('host').description('the machines of the installation (for administrators)')
  addInvitationCommands(host, session)
  host
    .command('list [hosts...]')
    .alias('ls')
    .description('list hosts with what they have and how much room is left')
    .action(async (names: readonly string[]) => list(await session(), names))
  host
    .command('show <host>')
    .description('say what a host has, how much room is left, and what that means')
    .action(async (name: string) => explain(await session(), name, [ExplainedKind.Host]))
  for (const [name, description] of [
    ['cordon', 'place nothing new on hosts; what they have goes on'],
    ['uncordon', 'place new instances and volumes on hosts again'],
  ] as const) {
    host
      .command(`${name} <hosts...>`)
      .description(description)
      .action(async (names: readonly string[]) => {
        const open = await session()
        const body = names.map((one) => ({ name: one }))
        const answer = await open.client.PUT(`/v1/hosts/${name}`, { body })
        tellEach(open, entriesOf(answer), (entry) => `${entry.name} is ${name}ed`)
      })
  }
  host
    .command('drain <hosts...>')
    .description('empty hosts: move their instances to other hosts, and wait until nothing is left to move')
    .option('--no-wait', 'return at once; `roost host list` shows how far it is')
    .action(async (names: readonly string[], options: DrainOptions) => drain(await session(), names, options))
  host
    .command('balance')
    .description('move instances so that the hosts are more equally full, those first that bring most')
    .option(
      '--most <n>',
      'move no more',
      numberOption('--most', { min: 1, max: maxBalancingMoves }),
      defaultBalancingMoves,
    )
    .option('--plan', 'say what would move, and move nothing')
    .action(async (options: BalanceOptions) => balance(await session(), options))
  host
    .command('label <host> <changes...>')
    .description(
      'change labels of a host: key=value sets one, and key- removes it; they are for people alone',
    )
    .action(async (name: string, changes: readonly string[]) => label(await session(), name, changes))
  host
    .command('remove <hosts...>')
    .description('remove hosts that have no instances and volumes, and lock them out')
    .option(
      '--lost',
      'their machines never come back: their instances begin on other hosts, and their volumes are lost',
    )
    .action(async (names: readonly string[], options: RemoveOptions) =>
      remove(await session(), names, options),
    )
}

function addInvitationCommands(host: Command, session: CommandLine['session']): void {
  host
    .command('invite')
    .description('invite a machine, and write the command that makes it a host')
    .option('--name <id>', 'the name of the host; default: h2, h3 and so on')
    .option(
      '--role <role>',
      `what it will do besides running instances: ${roles.join(', ')}; several times`,
      collected,
    )
    .action(async (options: InviteOptions) => invite(await session(), options))
  host
    .command('invitations [names...]')
    .description('list the invitations with which a machine can still join')
    .action(async (names: readonly string[]) => listInvitations(await session(), names))
  host
    .command('uninvite <names...>')
    .description('take invitations back, so that no machine can join with them')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const body = names.map((one) => ({ name: one }))
      const answer = await open.client.DELETE('/v1/hosts/invitations', { body })
      tellEach(open, entriesOf(answer), (entry) => `the invitation of ${entry.name} is taken back`)
    })
}

interface RemoveOptions {
  readonly lost?: true
}

async function remove(session: Session, names: readonly string[], { lost }: RemoveOptions): Promise<void> {
  const body = names.map((one) => ({ name: one, ...(lost && { lost }) }))
  const answer = await session.client.DELETE('/v1/hosts', { body })
  const said = ({ name, lost: loss }: Entry<'DeleteHostsAnswer'>) =>
    loss?.text ?? `${name} is removed and locked out`
  tellEach(session, entriesOf(answer), said)
}

interface InviteOptions {
  readonly name?: string
  readonly role?: readonly string[]
}

async function invite(session: Session, { name, role }: InviteOptions): Promise<void> {
  const roles = role?.map(roleNamed)
  const body = { ...(name !== undefined && { name }), ...(roles && { roles }) }
  const made = one(await session.client.POST('/v1/hosts/invitations', { body }))
  session.tell(`Run this on the new machine, in a checkout of Roost, before ${made.expires_at}:`)
  session.answer({ json: made, text: `npx roost join ${made.address} ${made.token}` })
}

async function listInvitations(session: Session, names: readonly string[]): Promise<void> {
  const nowMs = Date.now()
  const shape: readonly Column<Entry<'GetHostInvitationsAnswer'>>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'ROLES', text: ({ roles: all }) => all.join(', ') || '-' },
    { title: 'AGE', text: ({ created_at: at }) => ageText(at, nowMs) },
    { title: 'EXPIRES IN', text: ({ expires_at: at }) => spanText(Date.parse(at) - nowMs) },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/hosts/invitations', { params })), shape)
}

async function label(session: Session, name: string, changes: readonly string[]): Promise<void> {
  const body = [{ name, ...labelChange(changes) }]
  const entry = one(await session.client.PUT('/v1/hosts/labels', { body }))
  const text = labelsText(entry.labels)
  session.answer({
    json: entry,
    text: text === '' ? `${entry.name} has no labels` : `${entry.name} has ${text}`,
  })
}

/** Reads `key=value` and `key-`. Whether keys and values are good ones, the API says. */
function labelChange(changes: readonly string[]): LabelChange {
  const set = new Map<string, string>()
  const remove = new Set<string>()
  for (const change of changes) {
    const [, key = '', value] = /^([^=]+?)(?:=(.*)|-)$/s.exec(change) ?? []
    if (key === '') {
      throw new CommandFailure(
        `'${change}' is no change of a label: write key=value to set it, or key- to remove it`,
      )
    }
    if (set.has(key) || remove.has(key)) {
      throw new CommandFailure(`the label '${key}' is named twice: name it once`)
    }
    if (value === undefined) remove.add(key)
    else set.set(key, value)
  }
  return { set: Object.fromEntries(set), remove: [...remove] }
}

function roleNamed(text: string): Role {
  const found = roles.find((role) => role === text)
  if (found === undefined) throw usage(`--role must be one of ${roles.join(', ')}, not '${text}'`)
  return found
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const nowMs = Date.now()
  const shape: readonly Column<Host>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    {
      title: 'STATE',
      text: stateText,
    },
    { title: 'ROLES', text: ({ roles: all }) => all.join(', ') || '-' },
    { title: 'VERSION', text: ({ version }) => version },
    { title: 'INSTANCES', text: ({ instances }) => String(sum(Object.values(instances))) },
    { title: 'MEMORY MB', text: (host) => `${host.used_memory_mb} of ${host.memory_mb}` },
    { title: 'VCPUS', text: vcpusText },
    { title: 'VOLUME MB', text: (host) => `${host.promised_volume_mb} of ${host.volume_mb}` },
    { title: 'LABELS', text: ({ labels }) => labelsText(labels), shrinks: true },
    { title: 'HEARD', text: ({ heard_at: at }) => ageText(at, nowMs) },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/hosts', { params })), shape)
}

function stateText(host: Host): string {
  const { state, cordoned_at: at, drain } = host
  const cordoned = at === undefined ? undefined : 'cordoned'
  const use = drain === undefined ? cordoned : `draining: ${drain.to_move} to move`
  return [state, use, upgradingText(host)].filter((text) => text !== undefined).join(', ')
}

/** How far the upgrade of its machine is. Undefined if none is under way. */
function upgradingText({ upgrade }: Host): string | undefined {
  if (upgrade === undefined || !isUnderWay(upgrade)) return undefined
  const { state, to, progress } = upgrade
  const what = state === 'exchanging' ? `upgrading to ${to}` : `going back from ${to}`
  return progress === undefined ? what : `${what}: ${progress.exchanged} of ${progress.parts} parts`
}

/** The vCPUs that are promised, and how many may be until the host counts as full. */
function vcpusText({ cpus, promised_vcpus: vcpus }: Host): string {
  return cpus === undefined ? String(vcpus) : `${vcpus} of ${cpus * vcpusPerProcessor}`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

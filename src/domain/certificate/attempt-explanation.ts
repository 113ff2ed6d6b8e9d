import {
  AddressScope,
  AttemptOutcome,
  LookupFailure,
  PortState,
  RedirectStop,
  WebAnswer,
} from './attempt-report.ts'
import type { AttemptReport, CaaSeen, LookupSeen, PortSeen, WebSeen } from './attempt-report.ts'
import { wordsOfProblem } from './authority-words.ts'
import { ChallengeKind } from '../service/route-feed.ts'

/** Sentences for people. The first advice in `toDo` is the likeliest to help. */
export interface AttemptExplanation {
  readonly seen: readonly string[]
  readonly means: readonly string[]
  readonly toDo: readonly string[]
}

/**
 * What `roost cert explain` says about an attempt: what was seen, what it means, and what to do. What this
 * installation saw is judged only if the attempt did not succeed: an issued certificate needs no advice.
 */
export function explainAttempt(report: AttemptReport): AttemptExplanation {
  const seen = [...dnsSeen(report), ...caaSeen(report), ...webSeen(report), ...outcomeSeen(report)]
  if (report.outcome === AttemptOutcome.Issued) return { seen, means: [], toDo: [] }
  const here = [...judgeDns(report), ...judgeCaa(report), ...judgeWeb(report)]
  // If the problem is the authority's own or final, its words come before what could be better here.
  const isOfName = report.outcome === AttemptOutcome.Failed || report.outcome === undefined
  const findings = isOfName ? [...here, ...judgeProblem(report)] : [...judgeProblem(report), ...here]
  return {
    seen,
    means: distinct(findings.map((finding) => finding.means)),
    toDo: distinct(findings.map((finding) => finding.toDo)),
  }
}

interface Finding {
  readonly means: string
  readonly toDo: string
}

const lookupWords: Readonly<Record<LookupFailure, string>> = {
  [LookupFailure.NoSuchName]: 'there is no such name',
  [LookupFailure.ServerFailed]: 'the DNS server failed, as it does where DNSSEC is broken',
  [LookupFailure.NoAnswer]: 'no DNS server answered',
  [LookupFailure.Other]: 'the DNS answer can not be used',
}

const portWords: Readonly<Record<PortState, string>> = {
  [PortState.Open]: 'takes connections',
  [PortState.Refused]: 'refuses connections',
  [PortState.Timeout]: 'does not answer',
  [PortState.Unreachable]: 'can not be reached from here',
  [PortState.NotAsked]: 'was not asked: such an address is not on the internet',
}

const stopWords: Readonly<Record<RedirectStop, string>> = {
  [RedirectStop.NoLocation]: 'says nowhere to go',
  [RedirectStop.OtherPort]: 'leads to another port than 80 or 443, where no authority follows',
  [RedirectStop.Address]: 'leads to an address instead of a name, where no authority follows',
  [RedirectStop.Internal]: 'leads into a private network',
  [RedirectStop.NoAddress]: 'leads to a name without an address',
  [RedirectStop.TooMany]: 'is one of too many',
}

function dnsSeen({ name = 'the name', dns }: AttemptReport): readonly string[] {
  if (dns === undefined) return []
  const aliases = dns.cname.length > 0 ? [`${name} is an alias (CNAME) of ${dns.cname.join(', then ')}.`] : []
  return [...aliases, `A: ${lookupText(dns.a)}.`, `AAAA: ${lookupText(dns.aaaa)}.`]
}

function lookupText({ found, failure }: LookupSeen): string {
  if (found.length > 0) return found.join(', ')
  return failure === undefined ? 'none' : lookupWords[failure]
}

function caaSeen({ caa }: AttemptReport): readonly string[] {
  if (caa === undefined) return []
  if (caa.failure !== undefined) return [`CAA of ${caa.at}: ${lookupWords[caa.failure]}.`]
  if (caa.at === undefined) return ['CAA: none, so every authority may issue.']
  const records = caa.records.map(({ critical, tag, value }) => `${critical ? 128 : 0} ${tag} "${value}"`)
  return [`CAA of ${caa.at}: ${records.join(', ')}.`]
}

function webSeen({ web = [], tls = [] }: AttemptReport): readonly string[] {
  return [
    ...web.map((each) => `Port 80 of ${each.address} ${portWords[each.state]}${answerText(each)}.`),
    ...tls.map(({ address, state }) => `Port 443 of ${address} ${portWords[state]}.`),
  ]
}

function answerText({ answer, status, excerpt, stopped, location }: WebSeen): string {
  if (answer === undefined) return ''
  if (answer === WebAnswer.Expected) return " and gives the challenge's answer"
  if (answer === WebAnswer.None) return ', but no complete answer comes'
  if (answer === WebAnswer.Redirect) {
    const where = location === undefined || location === '' ? '' : ` to ${location}`
    return ` and answers with a redirect${where} that ${stopWords[stopped ?? RedirectStop.NoLocation]}`
  }
  const began = excerpt === undefined || excerpt === '' ? '' : ` that begins with "${excerpt}"`
  return status === undefined
    ? ', but something else answers'
    : `, but something else answers: ${status}${began}`
}

function outcomeSeen({ challenge, failure }: AttemptReport): readonly string[] {
  return [
    ...(challenge === undefined ? [] : [`The proof was by ${challenge}.`]),
    ...(failure === undefined ? [] : [failure.endsWith('.') ? failure : `${failure}.`]),
  ]
}

function judgeDns({ name = 'the name', dns }: AttemptReport): readonly Finding[] {
  if (dns === undefined) return []
  const { a, aaaa } = dns
  const failure = a.failure ?? aaaa.failure
  if (a.found.length + aaaa.found.length === 0) {
    const isAbsent = failure === undefined || failure === LookupFailure.NoSuchName
    return isAbsent
      ? [
          {
            means: `${name} leads nowhere: it has no address in DNS.`,
            toDo: `Make an A or AAAA record, or a CNAME record, with which ${name} leads to the gateway.`,
          },
        ]
      : [
          {
            means: `${name} could not be looked up: ${lookupWords[failure]}.`,
            toDo: `Check the DNS servers of ${name}, and DNSSEC where it is used.`,
          },
        ]
  }
  return []
}

function judgeCaa({ name = 'the name', caa, caaIdentities = [] }: AttemptReport): readonly Finding[] {
  if (caa === undefined) return []
  if (caa.failure !== undefined) {
    return [
      {
        means: `Where CAA records can not be looked up (${caa.at}), authorities must not issue.`,
        toDo: `Check the DNS servers of ${caa.at}: they have to answer questions for CAA, too, if only with none.`,
      },
    ]
  }
  const forbids = forbiddenBy(caa, caaIdentities)
  if (forbids === undefined) return []
  const [identity] = caaIdentities
  return [
    {
      means: `The CAA records of ${caa.at} ${forbids}`,
      toDo: `Add the record ${caa.at} CAA 0 issue "${identity ?? "<the authority's name>"}", so that it may issue for ${name}.`,
    },
  ]
}

/** Tags that authorities know. An unknown tag that is critical forbids all authorities (RFC 8659, 4.1). */
const knownTags: readonly string[] = [
  'issue',
  'issuewild',
  'iodef',
  'issuemail',
  'issuevmc',
  'contactemail',
  'contactphone',
]

/** Says how the records forbid the authority. Returns undefined if they permit it, or if that is unknown. */
function forbiddenBy({ records }: CaaSeen, identities: readonly string[]): string | undefined {
  const unknown = records.find(({ critical, tag }) => critical && !knownTags.includes(tag.toLowerCase()))
  if (unknown) return `have a critical tag, ${unknown.tag}, that authorities do not know, so none may issue.`
  const permitted = records
    .filter(({ tag }) => tag.toLowerCase() === 'issue')
    // Parameters come after the name.
    .map(({ value }) => (value.split(';')[0] ?? '').trim().toLowerCase())
  if (permitted.length === 0 || identities.length === 0) return undefined
  if (identities.some((identity) => permitted.includes(identity.toLowerCase()))) return undefined
  const named = permitted.filter((each) => each !== '')
  return named.length === 0
    ? 'permit no authority at all.'
    : `permit only ${named.join(', ')}, and this authority is ${identities.join(' or ')}.`
}

function judgeWeb(report: AttemptReport): readonly Finding[] {
  const { name = 'the name', web = [], tls = [], challenge } = report
  const byTls = challenge === ChallengeKind.TlsAlpn01
  const bad = web.filter((each) => !isGood(each, byTls, tls))
  if (web.length === 0) return []
  const internal = web.filter((each) => each.scope !== AddressScope.Public)
  return [
    ...(bad.length > 0 && bad.length < web.length ? [mixed(name, bad)] : []),
    ...distinctFindings(
      bad.filter(({ state }) => state !== PortState.NotAsked).map((each) => badAddress(name, each, byTls)),
    ),
    ...(internal.length > 0 ? [privateAddress(name, internal)] : []),
    ...(bad.length === 0 && report.problem?.type.endsWith(':connection') ? [onlyFromHere(name)] : []),
  ]
}

function isGood({ address, state, answer }: WebSeen, byTls: boolean, tls: readonly PortSeen[]): boolean {
  if (byTls) return tls.some((each) => each.address === address && each.state === PortState.Open)
  return state === PortState.Open && (answer === undefined || answer === WebAnswer.Expected)
}

function mixed(name: string, bad: readonly WebSeen[]): Finding {
  const addresses = bad.map((each) => each.address).join(', ')
  return {
    means: `Not all addresses of ${name} lead to the gateway, and an authority may look at any of them, IPv6 first: ${addresses}.`,
    toDo: `Remove the DNS records of ${addresses}, or let them lead to the gateway.`,
  }
}

function badAddress(name: string, { state, answer }: WebSeen, byTls: boolean): Finding {
  if (state !== PortState.Open || byTls) {
    const port = byTls ? 443 : 80
    return {
      means: `Port ${port} of what ${name} leads to is closed, or looks so from here.`,
      toDo: `Let port ${port} lead to the gateway, through every firewall.${byTls ? '' : ' Where it has to stay closed, port 443 alone will do.'}`,
    }
  }
  if (answer === WebAnswer.Redirect) {
    return {
      means: `A redirect stands in the way of the proof for ${name}.`,
      toDo: 'Let /.well-known/acme-challenge/ be answered without a redirect.',
    }
  }
  return {
    means: `Something other than this gateway answers for ${name}.`,
    toDo: `Let ${name} lead to the gateway; a proxy in between has to pass /.well-known/acme-challenge/ on unchanged.`,
  }
}

function privateAddress(name: string, internal: readonly WebSeen[]): Finding {
  const addresses = internal.map((each) => each.address).join(', ')
  const unasked = internal.some(
    ({ scope, state }) => scope === AddressScope.Internal && state === PortState.NotAsked,
  )
  return {
    means: `${name} leads to ${addresses}, which is not an address of the internet: an authority there can not reach it.`,
    toDo:
      `Give ${name} the gateway's public address, or set ROOST_ACME_RESOLVER where the name leads elsewhere outside.` +
      (unasked
        ? ' Where the gateway has such an address, ROOST_DIAGNOSIS_PRIVATE=on has Roost look at it, too.'
        : ''),
  }
}

function onlyFromHere(name: string): Finding {
  return {
    means: `${name} can be reached from here, and not from where the authority looks.`,
    toDo: 'Look for a firewall that lets only some countries or networks in, and for DNS that answers differently outside.',
  }
}

function judgeProblem({ name = 'the name', problem, outcome }: AttemptReport): readonly Finding[] {
  if (outcome === AttemptOutcome.Paced) {
    return [
      {
        means:
          'Roost itself holds the order back, so that the limits of the authority are left for all users.',
        toDo: 'Nothing: it is ordered by itself. ROOST_ACME_ORDERS says how many orders the authority takes.',
      },
    ]
  }
  const words = problem && wordsOfProblem(problem.type, name)
  if (words) return [words]
  if (outcome === AttemptOutcome.Later) {
    return [
      {
        means: 'The authority is away or busy. It is not counted as a failure.',
        toDo: 'Nothing: it is tried again by itself.',
      },
    ]
  }
  return []
}

function distinctFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((each, index) => findings.findIndex(({ means }) => means === each.means) === index)
}

function distinct(sentences: readonly string[]): readonly string[] {
  return [...new Set(sentences)]
}

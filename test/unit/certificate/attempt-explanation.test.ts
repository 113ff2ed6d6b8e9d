import assert from 'node:assert/strict'
import { explainAttempt } from '../../../src/domain/certificate/attempt-explanation.ts'
import {
  AddressScope,
  AttemptOutcome,
  LookupFailure,
  PortState,
  preferredChallenge,
  RedirectStop,
  WebAnswer,
} from '../../../src/domain/certificate/attempt-report.ts'
import type { AttemptReport, WebSeen } from '../../../src/domain/certificate/attempt-report.ts'
import { ChallengeKind } from '../../../src/domain/service/route-feed.ts'

const name = 'www.example.com'
const address = '192.0.32.7'
const good: WebSeen = {
  address,
  scope: AddressScope.Public,
  state: PortState.Open,
  answer: WebAnswer.Expected,
}
const open = { address, scope: AddressScope.Public, state: PortState.Open }
const closed = { ...open, state: PortState.Refused }
const type = (short: string) => `urn:ietf:params:acme:error:${short}`
/** An attempt that the authority refused, although every check from here found nothing wrong. */
const failed: AttemptReport = {
  name,
  authority: 'acme.example',
  caaIdentities: ['acme.example'],
  dns: { a: { found: [address] }, aaaa: { found: [] }, cname: [] },
  caa: { records: [] },
  web: [good],
  tls: [open],
  challenge: ChallengeKind.Http01,
  outcome: AttemptOutcome.Failed,
  failure: 'acme.example refused www.example.com: it is so (unauthorized, 403)',
  problem: { type: type('unauthorized'), detail: 'it is so', status: 403 },
}

/** The explanation of a report, each part as one line. It asserts that every sentence is well-formed. */
function said(report: AttemptReport): { means: string; toDo: string; seen: string } {
  const { seen, means, toDo } = explainAttempt(report)
  for (const sentence of [...seen, ...means, ...toDo]) {
    assert.match(sentence, /\.$/)
    assert.doesNotMatch(sentence, /undefined|\.\.$|null/)
  }
  return { seen: seen.join(' '), means: means.join(' '), toDo: toDo.join(' ') }
}

describe('what is said of an attempt', () => {
  it('tells what was seen, in the order in which an authority checks', () => {
    assert.deepEqual(
      explainAttempt({ ...failed, dns: { ...failed.dns!, cname: ['a.example', 'b.example'] } }).seen,
      [
        'www.example.com is an alias (CNAME) of a.example, then b.example.',
        `A: ${address}.`,
        'AAAA: none.',
        'CAA: none, so every authority may issue.',
        `Port 80 of ${address} takes connections and gives the challenge's answer.`,
        `Port 443 of ${address} takes connections.`,
        'The proof was by http-01.',
        'acme.example refused www.example.com: it is so (unauthorized, 403).',
      ],
    )
  })

  it('is no advice if the certificate was issued, whatever was seen from here', () => {
    const { means, toDo } = said({ ...failed, web: [{ ...good, ...closed }], outcome: AttemptOutcome.Issued })
    assert.deepEqual([means, toDo], ['', ''])
  })

  it('leaves out what the report does not have', () => {
    assert.deepEqual(explainAttempt({}), { seen: [], means: [], toDo: [] })
    assert.deepEqual(explainAttempt({ name }), { seen: [], means: [], toDo: [] })
  })

  describe('of DNS', () => {
    const dns = (failure?: LookupFailure) => {
      const nothing = { found: [], ...(failure && { failure }) }
      return { ...failed, dns: { a: nothing, aaaa: nothing, cname: [] }, web: [], tls: [] }
    }
    it('says which record to make for a name that leads nowhere', () => {
      for (const report of [dns(), dns(LookupFailure.NoSuchName)]) {
        assert.match(said(report).means, /leads nowhere/)
        assert.match(said(report).toDo, /^Make an A or AAAA record, or a CNAME/)
      }
    })
    it('blames the name servers if they do not answer, and not the records', () => {
      for (const failure of [LookupFailure.ServerFailed, LookupFailure.NoAnswer]) {
        assert.match(said(dns(failure)).toDo, /^Check the DNS servers/)
        assert.doesNotMatch(said(dns(failure)).toDo, /Make an A/)
      }
    })
  })

  describe('of CAA', () => {
    const caa = (...records: readonly (readonly [string, string, boolean?])[]): AttemptReport => ({
      ...failed,
      problem: { type: type('caa'), detail: 'no' },
      caa: {
        at: 'example.com',
        records: records.map(([tag, value, critical = false]) => ({ tag, value, critical })),
      },
    })
    it('names who may issue, and the record that is missing', () => {
      const { means, toDo, seen } = said(
        caa(['issue', 'other.example; account=7'], ['issue', 'third.example']),
      )
      assert.match(
        seen,
        /CAA of example\.com: 0 issue "other\.example; account=7", 0 issue "third\.example"\./,
      )
      assert.match(
        means,
        /example\.com permit only other\.example, third\.example, and this authority is acme\.example\./,
      )
      assert.match(toDo, /example\.com CAA 0 issue "acme\.example"/)
    })
    it('knows records that forbid all', () => {
      assert.match(said(caa(['issue', ';'])).means, /permit no authority at all/)
      assert.match(said(caa(['issue', 'acme.example'], ['future', 'x', true])).means, /critical tag, future/)
    })
    it('finds nothing wrong with records that permit the authority or do not concern it', () => {
      for (const report of [
        caa(['ISSUE', ' ACME.example ; x=1']),
        caa(['iodef', 'mailto:a@b.c']),
        caa(['issuewild', ';']),
        caa(['future', 'x']),
      ]) {
        assert.doesNotMatch(said(report).means, /permit|critical/)
      }
    })
    it('does not guess if the authority does not tell its name for CAA', () => {
      assert.doesNotMatch(said({ ...caa(['issue', 'other.example']), caaIdentities: [] }).means, /permit/)
    })
    it('says that a failed look-up forbids as well', () => {
      const { means } = said({
        ...failed,
        caa: { at: 'example.com', records: [], failure: LookupFailure.ServerFailed },
      })
      assert.match(means, /must not issue/)
    })
  })

  describe('of the web', () => {
    const web = (...seen: readonly Partial<WebSeen>[]): AttemptReport => ({
      ...failed,
      problem: { type: type('connection'), detail: 'no' },
      web: seen.map((each) => ({ ...good, ...each })),
    })
    it('says to open the port, where it is closed or silent', () => {
      for (const state of [PortState.Refused, PortState.Timeout, PortState.Unreachable]) {
        const { answer: _, ...noAnswer } = good
        const { means, toDo } = said({ ...web(), web: [{ ...noAnswer, state }] })
        assert.match(means, /Port 80 .* is closed/)
        assert.match(toDo, /port 443 alone will do/)
      }
    })
    it('says what else answers there, if that may be told', () => {
      const other = { answer: WebAnswer.Other, status: 404, excerpt: '<h1>nginx' }
      assert.match(said(web(other)).seen, /something else answers: 404 that begins with "<h1>nginx"/)
      assert.match(said(web(other)).means, /Something other than this gateway/)
      const inside = { answer: WebAnswer.Other, scope: AddressScope.Internal }
      assert.match(said(web(inside)).seen, /, but something else answers\./)
    })
    it('says where a redirect leads that no authority follows', () => {
      const redirect = {
        answer: WebAnswer.Redirect,
        stopped: RedirectStop.OtherPort,
        location: 'http://x:8080/',
      }
      assert.match(said(web(redirect)).seen, /redirect to http:\/\/x:8080\/ that leads to another port/)
      assert.match(said(web(redirect)).toDo, /without a redirect/)
    })
    it('names the addresses that lead elsewhere, where others do not', () => {
      const { means, toDo } = said(web({}, { address: '2606:4700::7', answer: WebAnswer.Other }))
      assert.match(means, /^Not all addresses .* IPv6 first: 2606:4700::7\./)
      assert.match(toDo, /^Remove the DNS records of 2606:4700::7/)
    })
    it('says that an authority can not reach a private address', () => {
      assert.match(said(web({ scope: AddressScope.Internal })).means, /is not an address of the internet/)
      assert.doesNotMatch(said(web({})).means, /is not an address of the internet/)
    })
    it('says of a private address that was not asked what the name leads to, and nothing of closed ports', () => {
      const { answer: _none, ...unasked } = good
      const inside = {
        ...unasked,
        address: '10.0.0.7',
        scope: AddressScope.Internal,
        state: PortState.NotAsked,
      }
      const { seen, means, toDo } = said({ ...failed, web: [inside], tls: [inside] })
      assert.match(seen, /Port 80 of 10\.0\.0\.7 was not asked/)
      assert.match(means, /www\.example\.com leads to 10\.0\.0\.7, which is not an address of the internet/)
      assert.doesNotMatch(means, /closed|can be reached from here/)
      assert.match(toDo, /ROOST_DIAGNOSIS_PRIVATE=on/)
      const never = said({ ...failed, web: [{ ...inside, scope: AddressScope.Never }] })
      assert.doesNotMatch(never.toDo, /ROOST_DIAGNOSIS_PRIVATE/)
    })
    it('says that Roost itself holds an order back, and not the authority', () => {
      const { means, toDo } = said({ name, outcome: AttemptOutcome.Paced, failure: 'too many' })
      assert.match(means, /Roost itself holds the order back/)
      assert.doesNotMatch(means, /authority is away/)
      assert.match(toDo, /ROOST_ACME_ORDERS/)
    })
    it('suspects a firewall if all is well from here but the authority got no answer', () => {
      assert.match(said(web({})).means, /can be reached from here, and not from/)
      assert.doesNotMatch(said(web({ answer: WebAnswer.Other })).means, /not from where/)
    })
    it('looks at port 443 and not at port 80 if the proof was by TLS', () => {
      const byTls = { ...failed, web: [{ ...good, ...closed }], challenge: ChallengeKind.TlsAlpn01 }
      assert.doesNotMatch(said(byTls).means, /closed/)
      assert.match(said({ ...byTls, tls: [closed] }).means, /Port 443/)
    })
  })

  describe('of what the authority said', () => {
    const of = (short: string, outcome: AttemptOutcome = AttemptOutcome.Failed) =>
      said({ ...failed, outcome, problem: { type: type(short), detail: 'no' } })
    it('says in words what each problem means and what to do', () => {
      const known =
        'dns connection unauthorized incorrectResponse tls caa userActionRequired externalAccountRequired ' +
        'invalidContact unsupportedContact accountDoesNotExist'
      for (const short of known.split(' ')) {
        assert.ok(of(short).means !== '' && of(short).toDo !== '', short)
      }
    })
    it('is only the authority’s own sentence if the problem is of an unknown type', () => {
      for (const short of ['somethingNew', 'toString', 'constructor']) assert.equal(of(short).means, '')
      const { means, seen } = said({ ...failed, problem: { type: 'about:blank', detail: 'no' } })
      assert.equal(means, '')
      assert.match(seen, /it is so/)
    })
    it('comes first if that decides the outcome: refused for good, or not a failure', () => {
      const { means } = explainAttempt({
        ...failed,
        web: [{ ...good, ...closed }],
        outcome: AttemptOutcome.Refused,
        problem: { type: type('rejectedIdentifier'), detail: 'no' },
      })
      assert.match(means[0] ?? '', /as a matter of policy/)
      assert.match(of('rateLimited', AttemptOutcome.Later).toDo, /^Nothing: it is tried again/)
    })
    it('blames the authority and not the name if the authority is away', () => {
      const { problem: _, ...report } = failed
      assert.match(said({ ...report, outcome: AttemptOutcome.Later }).means, /away or busy/)
    })
  })
})

describe('the kind of proof', () => {
  const { answer: _, ...unanswered } = good
  const shut = (state: PortState): WebSeen => ({ ...unanswered, state })
  it('is TLS if port 80 is closed at all addresses and port 443 is open at one of them, and HTTP otherwise', () => {
    const refused = shut(PortState.Refused)
    assert.equal(preferredChallenge({ web: [refused], tls: [open] }), 'tls-alpn-01')
    assert.equal(
      preferredChallenge({ web: [refused, shut(PortState.Timeout)], tls: [closed, open] }),
      'tls-alpn-01',
    )
    assert.equal(preferredChallenge({ web: [refused], tls: [closed] }), 'http-01')
    assert.equal(preferredChallenge({ web: [refused, good], tls: [open] }), 'http-01')
    assert.equal(preferredChallenge({ web: [shut(PortState.NotAsked)], tls: [open] }), 'http-01')
    assert.equal(preferredChallenge({ web: [{ ...good, answer: WebAnswer.Other }], tls: [open] }), 'http-01')
    assert.equal(preferredChallenge({}), 'http-01')
  })
})

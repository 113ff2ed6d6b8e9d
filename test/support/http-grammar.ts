import { mutated } from './mutated-bytes.ts'
import type { Tape } from './tape.ts'

/** Generators of HTTP/1.1 on the wire: some valid, some nearly so, some damaged. */

type Choices = readonly [string, ...string[]]

const lineEnds: Choices = ['\r\n', '\n', '\r', '\r\r\n', '\n\r', '\r\n\r\n', '']
const methods: Choices = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const oddMethods: Choices = [
  'get',
  'TRACE',
  'CONNECT',
  'PRI',
  'QUERY',
  'M-SEARCH',
  'GETT',
  'G\x00T',
  'SOURCE',
  '',
]
const targets: Choices = [
  '/',
  '/a',
  '/a?b=c',
  '//x',
  "/~!$&'()*+,;=:@%2f",
  '/?',
  '/a/../b',
  '/%00',
  '/"<>\\^`{|}',
]
const oddTargets: Choices = [
  '*',
  'http://app.test/',
  'http://other.test/x',
  'https://u@app.test:1?x',
  'app.test:443',
  '/a#b',
  '/a b',
  '/\x00',
  '/\x7f',
  '/\xe9',
  '/\t',
  '',
  'a',
  `/${'t'.repeat(100)}`,
]
const oddVersions: Choices = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.10',
  'HTTP/11',
  '',
]
const oddSpaces: Choices = ['  ', '\t', '', ' \t', '\x0b', '\xa0', '\x00']
const hosts: Choices = ['app.test', 'APP.test:80', '[::1]', 'a_b.test.', 'other.test']
const oddHosts: Choices = ['', 'app.test/x', 'a@app.test', 'app.test, other.test', ' ', 'app.test:', '\x00']
const names: Choices = [
  'X-A',
  'Accept',
  'Cookie',
  'x-request-id',
  'User-Agent',
  "!#$%&'*+-.^_`|~0",
  'Trailer',
  'TE',
]
const oddNames: Choices = [
  'X A',
  'X\tA',
  '',
  'X\x00',
  'X\x80',
  '(x)',
  'X[]',
  ' X-A',
  '\tX-A',
  'Transfer_Encoding',
]
const values: Choices = ['1', 'a, b;q="c"', '', '\xe9\xff\x80', ' \t padded\t ', 'a\tb', ':', '\t']
const oddValues: Choices = [
  'a\x00b',
  'a\rb',
  'a\nb',
  '\x7f',
  '\x1b',
  '\x0b',
  'a\r\n folded',
  '\r\n\tfolded',
  '\r\n ',
]
const lengths: Choices = ['0', '3', '5', '17', '003']
const oddLengths: Choices = [
  '+3',
  '-3',
  '0x3',
  '3 3',
  '3,3',
  '3, 3',
  '',
  ' ',
  '3\t',
  '3;',
  '3.0',
  '1e1',
  '9'.repeat(15),
]
const hugeLengths: Choices = ['9'.repeat(16), '18446744073709551616', '18446744073709551619', '9'.repeat(40)]
const codings: Choices = ['chunked', 'Chunked', 'chunked ', 'identity', 'gzip, chunked', 'chunked, chunked']
const oddCodings: Choices = [
  'xchunked',
  'chunked;a=b',
  '\x0bchunked',
  '"chunked"',
  '',
  'chunked,',
  ',chunked',
  'chun ked',
]
const connections: Choices = ['keep-alive', 'close', 'Keep-Alive', 'CLOSE']
const oddConnections: Choices = [
  'close, x',
  'keep-alive, close',
  'upgrade',
  '',
  'x-close',
  'close\t',
  ',',
  'close;',
  'keep',
]
const otherFields: Choices = [
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Expect: 100-continue',
  'Expect: x',
  'Proxy-Connection: close',
  'HTTP2-Settings: x',
  'Connection: close\r\nConnection: keep-alive',
  'Content-Length: 3\r\nTransfer-Encoding: chunked',
  'Content-Length: 3\r\nContent-Length: 5',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
]
const bodies: Choices = [
  '',
  'abc',
  'hello',
  '\r\n\r\n',
  'GET /x HTTP/1.1\r\nHost: app.test\r\n\r\n',
  '0\r\n\r\n',
]
const chunkLines: Choices = ['3', '03', '003', '3;a', '3;a=b', '3;a="b;c"', '3;a;b=c']
const oddChunkLines: Choices = [
  '3 ',
  '3 ;a',
  '3;',
  '3; a',
  '3;a=',
  '3;a="',
  '3;a b',
  '3;\xe9',
  '0x3',
  '+3',
  '3;;a',
  '3\t',
  '4',
  '2',
  '',
]
const moreChunkLines: Choices = [
  '3;a="\\""',
  '3;a="\\\xe9"',
  '3;a=b"c"',
  '3;"a"',
  '3;a= b',
  '3;a="b"c',
  '3;a="b" ',
  '3;a\x00',
  '3;=',
]
const trailers: Choices = [
  '',
  'X-Sum: 1\r\n',
  'X-A:\r\nX-B: \xe9\r\n',
  'Content-Length: 5\r\n',
  'X-A : 1\r\n',
  'X\r\n',
]
const oddStatusLines: Choices = [
  'HTTP/1.0 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.1 200 \xe9 \t ok ',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 99 x',
  'HTTP/1.1 000 x',
  'HTTP/1.1 999 x',
  'HTTP/1.1 20x OK',
  'HTTP/1.1 2000 OK',
  'HTTP/1.1 200OK',
  'HTTP/1.2 200 OK',
  'HTTP/2.0 200 OK',
  'ICY 200 OK',
  'RTSP/1.0 200 OK',
  'HTTP/1.1 200 a\x00b',
  'HTTP/1.1 200 a\rb',
  'HTTP/1.1\t200 OK',
  ' HTTP/1.1 200 OK',
  '\r\nHTTP/1.1 200 OK',
]
const statuses: Choices = [
  '200 OK',
  '404 Not Found',
  '204 No Content',
  '304 Not Modified',
  '500 x',
  '206 Partial',
  '205 x',
]
const informs: Choices = ['100 Continue', '103 Early Hints', '102 x', '101 Switching Protocols', '199 x']
const keepAlives: Choices = ['timeout=5', 'timeout=5, max=3', 'max=3', 'timeout=x']

/** Makes odd choices once in `oddity` times; 0 stands for never. */
class Writer {
  readonly tape: Tape
  readonly #oddity: number

  constructor(tape: Tape, oddity: number) {
    this.tape = tape
    this.#oddity = oddity
  }

  choose(usual: Choices, odd: Choices): string {
    return this.#oddity > 0 && this.tape.oneIn(this.#oddity) ? this.tape.pick(odd) : this.tape.pick(usual)
  }

  /** A piece of the grammar that is mostly this. */
  mostly(usual: string, odd: Choices): string {
    return this.#oddity > 0 && this.tape.oneIn(this.#oddity) ? this.tape.pick(odd) : usual
  }

  lineEnd(): string {
    return this.mostly('\r\n', lineEnds)
  }

  field(name: string, value: string): string {
    return `${name}${this.mostly(': ', [':', ' : ', ':\t', ' :', '', ':\r\n ', ': \t'])}${value}${this.lineEnd()}`
  }

  /** A field, and the length of the body if the field says it. */
  anyField(): string {
    const { tape } = this
    switch (tape.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return this.field(this.choose(names, oddNames), this.choose(values, oddValues))
      case 5:
        return this.field(cased(tape, 'Connection'), this.choose(connections, oddConnections))
      case 6:
        return this.field(
          cased(tape, 'Content-Length'),
          this.choose(lengths, tape.oneIn(4) ? hugeLengths : oddLengths),
        )
      case 7:
        return this.mostly('X-B: 2\r\n', [`${tape.pick(otherFields)}\r\n`])
      case 8:
        return this.mostly('X-C: 3\r\n', [
          this.field(cased(tape, 'Transfer-Encoding'), this.choose(codings, oddCodings)),
        ])
      default:
        return tape.oneIn(16)
          ? 'X-D: 4\r\n'.repeat(tape.below(48))
          : this.field('Keep-Alive', tape.pick(keepAlives))
    }
  }

  fields(): string {
    let text = ''
    for (let count = this.tape.below(6); count > 0; count -= 1) text += this.anyField()
    return text
  }

  chunks(): string {
    const { tape } = this
    let text = ''
    for (let count = tape.below(4); count > 0; count -= 1) {
      text += `${this.choose(chunkLines, tape.oneIn(2) ? moreChunkLines : oddChunkLines)}${this.lineEnd()}abc${this.lineEnd()}`
    }
    return `${text}${this.mostly('0', ['00', '0;a=b', '0 ', '-0', '0;', ''])}${this.lineEnd()}${
      tape.oneIn(3) ? tape.pick(trailers) : ''
    }${this.lineEnd()}`
  }

  /** The body that a head asks for, or another one. */
  body(head: string): string {
    const { tape } = this
    const usual = tape.oneIn(12) ? tape.pick(bodies) : undefined
    if (usual !== undefined) return usual
    if (/^transfer-encoding:\s*chunked/im.test(head)) return this.chunks()
    const length = /^content-length:[ \t]*0*(\d{1,2})[ \t]*\r/im.exec(head)?.[1]
    return length === undefined ? '' : 'abc'.repeat(40).slice(0, Number(length))
  }
}

function cased(tape: Tape, name: string): string {
  return tape.pick([name, name.toLowerCase(), name.toUpperCase()])
}

/** Of three writers two are mostly or only valid: the others alone would seldom make a valid head. */
function writerOf(tape: Tape): Writer {
  return new Writer(tape, tape.pick([0, 24, 5]))
}

function requestFrom(tape: Tape): string {
  const to = writerOf(tape)
  const method = to.choose(methods, oddMethods)
  const target = to.choose(targets, oddTargets)
  const version = to.mostly('HTTP/1.1', oddVersions)
  let head = `${method}${to.mostly(' ', oddSpaces)}${target}${to.mostly(' ', oddSpaces)}${version}${to.lineEnd()}`
  const host = to.field(cased(tape, 'Host'), to.choose(hosts, oddHosts))
  head += to.mostly(host, ['', `${host}${host}`, `${host}Host: other.test\r\n`, ` ${host}`])
  head += to.fields()
  if (method === 'POST' && tape.oneIn(2)) head += to.field('Content-Length', to.choose(lengths, oddLengths))
  return `${to.mostly('', lineEnds)}${head}${to.lineEnd()}${to.body(head)}`
}

/** One to three requests in a row, as bytes of one connection. */
export function requestsFrom(tape: Tape): Buffer {
  let text = ''
  for (let count = 1 + tape.below(3); count > 0; count -= 1) text += requestFrom(tape)
  return mutated(Buffer.from(text, 'latin1'), tape)
}

/** What an instance may answer to one request, and sometimes more than that. */
export function answerFrom(tape: Tape): Buffer {
  const to = writerOf(tape)
  let text = ''
  for (let count = tape.oneIn(8) ? tape.below(3) : 0; count > 0; count -= 1)
    text += `HTTP/1.1 ${tape.pick(informs)}${to.lineEnd()}${to.fields()}${to.lineEnd()}`
  let head = `${to.mostly(`HTTP/1.1 ${tape.oneIn(3) ? tape.pick(statuses) : '200 OK'}`, oddStatusLines)}${to.lineEnd()}`
  head += to.fields()
  const framing = tape.below(4)
  if (framing === 1) head += to.field('Transfer-Encoding', to.choose(['chunked', 'Chunked'], oddCodings))
  if (framing === 2) head += to.field('Content-Length', to.choose(lengths, oddLengths))
  text += `${head}${to.lineEnd()}${to.body(head)}`
  if (tape.oneIn(6))
    text += tape.pick(['abc', '\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '\x00'])
  return mutated(Buffer.from(text, 'latin1'), tape)
}

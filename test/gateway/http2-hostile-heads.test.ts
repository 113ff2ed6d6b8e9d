import assert from 'node:assert/strict'
import { testHost } from '../support/gateway-http.ts'
import { plainBlock } from '../support/hpack-writer.ts'
import { ErrorCode, Flag, FrameType, pseudoFields } from '../support/http2-frames.ts'
import type { FieldList, FrameClient } from '../support/http2-frames.ts'
import { HostileScene } from '../support/http2-hostile.ts'

type Field = readonly [name: string, value: string]

const [method, scheme, path, authority] = pseudoFields as [Field, Field, Field, Field]

/** The pseudo fields with one of them as given; without it if no value is given. */
function pseudo(name: string, value?: string): FieldList {
  return pseudoFields.flatMap((field): FieldList => {
    if (field[0] !== name) return [field]
    return value === undefined ? [] : [[name, value]]
  })
}

const withField = (name: string, value: string): FieldList => [...pseudoFields, [name, value]]

/** Heads that RFC 9113 calls malformed (8.1.1, 8.2, 8.3). */
const malformed: Readonly<Record<string, FieldList>> = {
  'without a method': pseudo(':method'),
  'without a scheme': pseudo(':scheme'),
  'without a path': pseudo(':path'),
  'without any field': [],
  'with an empty path': pseudo(':path', ''),
  'with an empty method': pseudo(':method', ''),
  'with a path of two words': pseudo(':path', '/a b'),
  'with a path that has CR and LF': pseudo(':path', '/ HTTP/1.1\r\nX: y'),
  'with a path that has NUL': pseudo(':path', '/\0'),
  'with a path that begins with no slash': pseudo(':path', 'a'),
  'with an asterisk as the path of GET': pseudo(':path', '*'),
  'with a method of two words': pseudo(':method', 'GET /x'),
  'with a method that has LF': pseudo(':method', 'GET\n'),
  'with an authority that has LF': pseudo(':authority', `${testHost}\nX: y`),
  'with an authority that has a space': pseudo(':authority', `${testHost} x`),
  'with an authority that names a user': pseudo(':authority', `someone@${testHost}`),
  'with a scheme that has a space': pseudo(':scheme', 'https x'),
  'with two methods': [method, method, scheme, path, authority],
  'with two methods that differ': [method, [':method', 'POST'], scheme, path, authority],
  'with two schemes': [method, scheme, scheme, path, authority],
  'with two paths': [method, scheme, path, [':path', '/b'], authority],
  'with two authorities': [method, scheme, path, authority, authority],
  'with a pseudo field after another field': [method, scheme, path, ['a', 'b'], authority],
  'with a pseudo field that is not known': [...pseudoFields, [':user', 'x']],
  'with a pseudo field of answers': [...pseudoFields, [':status', '200']],
  'with a pseudo field without a name': [...pseudoFields, [':', 'x']],
  'with a protocol, and no CONNECT': [...pseudoFields, [':protocol', 'websocket']],
  'with an upper-case name of a pseudo field': [method, scheme, [':Path', '/'], authority],
  'with an upper-case name': withField('X-Name', 'x'),
  'with an upper-case letter in a name': withField('x-namE', 'x'),
  'with an empty name': withField('', 'x'),
  'with a space in a name': withField('x name', 'x'),
  'with a space before the end of a name': withField('x ', 'x'),
  'with a colon in a name': withField('x:y', 'x'),
  'with CR and LF in a name': withField('x: y\r\nz', 'x'),
  'with NUL in a name': withField('x\0', 'x'),
  'with a byte above 127 in a name': withField('x\xe4', 'x'),
  'with DEL in a name': withField('x\x7f', 'x'),
  'with CR and LF in a value': withField('x', 'y\r\nz: a'),
  'with LF in a value': withField('x', 'y\nz'),
  'with CR in a value': withField('x', 'y\rz'),
  'with NUL in a value': withField('x', 'y\0z'),
  'with a space before a value': withField('x', ' y'),
  'with a tab after a value': withField('x', 'y\t'),
  'with Connection': withField('connection', 'close'),
  'with Connection that names a field': withField('connection', 'x'),
  'with Keep-Alive': withField('keep-alive', '1'),
  'with Proxy-Connection': withField('proxy-connection', 'keep-alive'),
  'with Transfer-Encoding': withField('transfer-encoding', 'chunked'),
  'with Upgrade': withField('upgrade', 'h2c'),
  'with TE for anything but trailers': withField('te', 'gzip'),
  'with TE for trailers and more': withField('te', 'trailers, gzip'),
  'with two lengths that differ': [...pseudoFields, ['content-length', '0'], ['content-length', '1']],
  'with a length that is no number': withField('content-length', 'x'),
  'with a negative length': withField('content-length', '-1'),
  'with an empty length': withField('content-length', ''),
  'with a list of lengths': withField('content-length', '0, 0'),
  'with a length, and no body': withField('content-length', '1'),
  'with another host than the authority': withField('host', 'other.test'),
  'that is CONNECT with a path': [[':method', 'CONNECT'], scheme, path, authority],
  'that is CONNECT without an authority': [[':method', 'CONNECT']],
}

describe('a malformed request of HTTP/2', () => {
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start()
    client = await scene.client()
  })
  afterEach(() => scene.close())

  const refused = { stream: 1, codes: [ErrorCode.Protocol], orAnswer: true }

  for (const [title, fields] of Object.entries(malformed)) {
    it(`${title} is refused, and is no request`, async () => {
      client.head(1, fields)
      await scene.refuses(client, refused)
    })
  }

  it('is refused when it comes in several frames', async () => {
    const block = plainBlock(withField('X', 'y'))
    client.send({ type: FrameType.Headers, flags: Flag.EndStream, stream: 1, payload: block.subarray(0, 3) })
    for (let at = 3; at < block.length; at += 7) {
      const payload = block.subarray(at, at + 7)
      const flags = at + 7 >= block.length ? Flag.EndHeaders : 0
      client.send({ type: FrameType.Continuation, flags, stream: 1, payload })
    }
    await scene.refuses(client, refused)
  })

  const post = (length: string): FieldList => [...pseudo(':method', 'POST'), ['content-length', length]]

  /** Sends a request that says one length of its body, and a body of these pieces. */
  function upload(length: string, ...pieces: readonly string[]): void {
    client.head(1, post(length), { body: true })
    for (const [at, piece] of pieces.entries()) {
      const flags = at === pieces.length - 1 ? Flag.EndStream : 0
      client.send({ type: FrameType.Data, flags, stream: 1, payload: Buffer.from(piece) })
    }
  }

  const refusedLate = { stream: 1, codes: [ErrorCode.Protocol], asked: 1 }

  it('whose body is longer than it said is reset', async () => {
    upload('3', 'four')
    await scene.refuses(client, refusedLate)
  })

  it('whose body is longer than it said in its second piece is reset', async () => {
    upload('5', 'four', 'four')
    await scene.refuses(client, refusedLate)
  })

  it('whose body is shorter than it said is reset', async () => {
    upload('9', 'four', 'four')
    await scene.refuses(client, refusedLate)
  })

  it('whose body is shorter than it said, and ends with an empty piece, is reset', async () => {
    upload('9', 'four', '')
    await scene.refuses(client, refusedLate)
  })

  it('whose body is shorter than it said, and ends with trailers, is reset', async () => {
    client.head(1, post('9'), { body: true })
    client.send({ type: FrameType.Data, stream: 1, payload: Buffer.from('four') })
    client.head(1, [['x-sum', '1']])
    await scene.refuses(client, refusedLate)
  })

  it('with a length of 0 and a body is reset', async () => {
    upload('0', 'x')
    await client.settled()
    assert.equal(client.resetCode(1), ErrorCode.Protocol)
  })

  const trailers: Readonly<Record<string, FieldList>> = {
    'with a pseudo field': [[':path', '/']],
    'with the pseudo field of answers': [[':status', '200']],
    'with an upper-case name': [['X-Sum', '1']],
    'with LF in a value': [['x-sum', '1\n2']],
    'with Transfer-Encoding': [['transfer-encoding', 'chunked']],
    'with Connection': [['connection', 'close']],
  }
  for (const [title, fields] of Object.entries(trailers)) {
    it(`that has trailers ${title} is reset`, async () => {
      client.head(1, pseudo(':method', 'POST'), { body: true })
      client.send({ type: FrameType.Data, stream: 1, payload: Buffer.from('body') })
      client.head(1, fields)
      await scene.refuses(client, refusedLate)
    })
  }

  it('that has trailers that do not end the stream is reset', async () => {
    client.head(1, pseudo(':method', 'POST'), { body: true })
    client.send({ type: FrameType.Data, stream: 1, payload: Buffer.from('body') })
    client.head(1, [['x-sum', '1']], { body: true })
    client.send({ type: FrameType.Data, stream: 1, flags: Flag.EndStream, payload: Buffer.from('more') })
    await scene.refuses(client, refusedLate)
  })
})

describe('a request of HTTP/2 at the edge of what is allowed', () => {
  let scene: HostileScene
  let client: FrameClient
  /** The cookie fields of each request, as the instance got them. */
  const cookies: string[][] = []

  beforeEach(async () => {
    scene = await HostileScene.start({}, ({ headersDistinct }) => {
      cookies.push(headersDistinct['cookie'] ?? [])
      return 'hello'
    })
    client = await scene.client()
  })
  afterEach(() => scene.close())

  const allowed: Readonly<Record<string, FieldList>> = {
    'with TE for trailers': withField('te', 'trailers'),
    'with the same host as its authority': withField('host', testHost),
    'with a host and no authority': [method, scheme, path, ['host', testHost]],
    'with an empty value': withField('x', ''),
    'with bytes above 127 in a value': withField('x', '\xe4\xf6'),
    'with a space and a tab within a value': withField('x', 'a \tb'),
    'with every other character of names': withField("!#$%&'*+-.^_`|~09az", 'x'),
    'with pseudo fields in another order': [authority, path, scheme, method],
    'with an asterisk as the path of OPTIONS': [[':method', 'OPTIONS'], scheme, [':path', '*'], authority],
    'with a length of 0 and no body': withField('content-length', '0'),
  }
  for (const [title, fields] of Object.entries(allowed)) {
    it(`${title} is served`, async () => {
      client.head(1, fields)
      await client.answered(1)
      assert.equal(scene.front.reports.at(-1)?.status, 200)
      await scene.goesOn(client, 3)
    })
  }

  it('whose cookies came in pieces has them as one field at the instance', async () => {
    client.head(1, [...pseudoFields, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2; c=3']])
    await client.answered(1)
    assert.deepEqual(cookies.at(-1), ['a=1; b=2; c=3'])
  })
})

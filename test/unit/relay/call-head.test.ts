import assert from 'node:assert/strict'
import { readHead } from '../../../src/relay/call-head.ts'
import { GrpcCode, GrpcStatus } from '../../../src/relay/grpc-status.ts'

const service = '/temporal.api.workflowservice.v1.WorkflowService'

function headOf(method: string, fields: Readonly<Record<string, string | string[]>> = {}) {
  const basic = { ':method': 'POST', ':path': `${service}/${method}`, 'content-type': 'application/grpc' }
  const head = readHead({ ...basic, ...fields })
  assert.ok(!(head instanceof GrpcStatus), 'the call is refused')
  return head
}

describe('the head of a call', () => {
  const times = [
    ['70S', 70_000],
    ['70000000u', 70_000],
    ['30000000u', 30_000],
    ['1n', 1],
    ['0S', 1],
    ['250m', 250],
    ['1M', 60_000],
    ['99999999H', 75_000],
    ['123456789n', 75_000],
    ['', 75_000],
    ['-1S', 75_000],
    ['5', 75_000],
  ] as const
  for (const [field, limitMs] of times) {
    it(`gives a poll ${limitMs} ms for the field ${JSON.stringify(field)}`, () => {
      assert.equal(headOf('PollActivityTaskQueue', { 'grpc-timeout': field }).limitMs, limitMs)
    })
  }

  it('gives no other call more than 35 s', () => {
    assert.equal(headOf('GetSystemInfo', { 'grpc-timeout': '70S' }).limitMs, 35_000)
    assert.equal(headOf('GetSystemInfo').limitMs, 35_000)
  })

  it('passes on which SDK the host has, and nothing else', () => {
    const passed = {
      'client-name': 'temporal-typescript',
      'client-version': '1.24.0',
      'supported-server-versions': '>=1.0.0 <2.0.0',
      'supported-features': 'a,b',
    }
    const others = {
      authorization: 'Bearer x',
      'caller-type': 'operator',
      'caller-name': 'x',
      'call-initiation': 'x',
      'temporal-namespace': 'other',
      'authorization-extras': 'x',
      'x-forwarded-for': '127.0.0.1',
      'user-agent': 'x',
      'grpc-encoding': 'identity',
    }
    assert.deepEqual(headOf('GetSystemInfo', { ...passed, ...others }).passed, passed)
  })

  it('passes on no field that is long, doubled or not printable', () => {
    for (const value of ['x'.repeat(257), '', 'ä', 'a\u0000b']) {
      assert.deepEqual(headOf('GetSystemInfo', { 'client-name': value }).passed, {}, value)
    }
    assert.deepEqual(headOf('GetSystemInfo', { 'client-name': ['a', 'b'] }).passed, {})
  })

  it('has to be one of gRPC', () => {
    const fields = {
      ':method': 'POST',
      ':path': `${service}/GetSystemInfo`,
      'content-type': 'application/grpc',
    }
    const others = [
      { ...fields, ':method': 'GET' },
      { ...fields, 'content-type': 'application/grpc-web' },
      { ...fields, 'content-type': 'application/json' },
      { ':method': 'POST', ':path': fields[':path'] },
    ]
    for (const other of others) {
      const status = readHead(other)
      assert.ok(status instanceof GrpcStatus)
      assert.equal(status.code, GrpcCode.InvalidArgument)
    }
    assert.ok(!(readHead({ ...fields, 'content-type': 'application/grpc+proto' }) instanceof GrpcStatus))
  })
})

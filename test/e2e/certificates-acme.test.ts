import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { certificateWorkflowId } from '../../workflows/certificate/messages.ts'
import { acmeAddress as address, startAcmeStack } from '../support/acme-stack.ts'
import type { AcmeStack } from '../support/acme-stack.ts'
import { certificateView, createService, shownFor, untilShown, untilState } from '../support/certificates.ts'
import type { CertificateView } from '../support/certificates.ts'
import { viewOf } from '../support/instances.ts'
import { PrivateKeyTraces, holdsNoKeys } from '../support/private-key-traces.ts'
import { roost } from '../support/roost-command.ts'
import { until } from '../support/until.ts'
import { readRows } from '../support/rows.ts'

const limitMs = 40_000
/** The address to which a domain leads before it leads to the gateway. */
const elsewhere = '127.0.0.3'
/** The pause between two requests of a visitor. */
const pauseMs = 5

describe('certificates from an ACME authority', function () {
  let starting: Promise<AcmeStack> | undefined
  let scene: AcmeStack
  let elsewhereServer: Server
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    starting = startAcmeStack()
    scene = await starting
    elsewhereServer = createServer((_request, response) => response.end('Somebody else lives here.'))
    await once(elsewhereServer.listen(80, elsewhere), 'listening')
  })
  after(async () => {
    elsewhereServer?.close()
    const started = await starting?.catch(() => undefined)
    await started?.remove()
  })

  const api = () => scene.stack.api
  const gateway = () => ({ address, ca: scene.root })
  /** Counts the orders and certificates that Pebble made since it had printed `before`. */
  const madeSince = (before: string) => {
    const since = scene.pebble.said().slice(before.length)
    return {
      orders: since.match(/Added order /g)?.length ?? 0,
      certificates: since.match(/Issued certificate serial/g)?.length ?? 0,
    }
  }

  it('come to a name whose instance sleeps on, by one order', async () => {
    const host = 'asleep.example.test'
    await scene.point(host)
    const before = scene.pebble.said()
    const made = await api().one('createInstances', {
      body: {
        name: 'asleep',
        image: 'counter',
        service_group: {
          services: [{ port: 443, destination_port: 8_080 }],
          domains: [{ name: `${host}.` }],
        },
        scale_to_zero: { policy: 'on', cooldown_time_ms: 60_000 },
      },
    })
    const { certificate } = made.service_group?.domains[0] ?? {}
    const uuid = certificate?.uuid ?? ''
    assert.equal(certificate?.state, 'pending')
    const seen: CertificateView[] = [await certificateView(api(), uuid)]
    assert.equal(seen[0]?.state, 'pending')
    assert(seen[0]?.validation !== undefined && seen[0].serial_number === undefined)
    assert.equal(await shownFor(host, { address }), undefined)

    const view = await untilState(api(), uuid, 'valid')
    assert.equal(view.validation, undefined)
    assert.equal(view.common_name, host)
    assert.match(view.issuer ?? '', /CN=Pebble Intermediate CA/)
    assert(Date.parse(view.not_before ?? '') <= Date.now() && Date.now() < Date.parse(view.not_after ?? ''))
    assert.deepEqual(view.service_groups, [
      { uuid: made.service_group?.uuid, name: made.service_group?.name },
    ])
    const shown = await untilShown(host, gateway(), view.serial_number)
    assert.match(shown.chain.at(-1) ?? '', /Pebble Intermediate CA/)
    const instance = await viewOf(api(), made.uuid)
    assert.deepEqual([instance.state, instance.start_count], ['standby', 0])
    assert.deepEqual(madeSince(before), { orders: 1, certificates: 1 })

    const page = await scene.names.get(`https://${host}/count`)
    assert.equal(page.text.trim(), '1')
    assert.equal((await viewOf(api(), made.uuid)).start_count, 1)
    await api().one('deleteInstances', { object: made.uuid })
  })
  it('say why they do not come, and come at once when they are asked for again', async () => {
    const host = 'elsewhere.example.test'
    await scene.pebble.dns.setA(host, [elsewhere])
    const { domains } = await createService(api(), 'elsewhere', [host])
    const { uuid = '', name = '' } = domains[0]?.certificate ?? {}
    const failed = await until(
      'the first attempt failed',
      async () => {
        const seen = await certificateView(api(), uuid)
        return seen.reason !== undefined && seen
      },
      { limitMs },
    )
    assert.equal(failed.state, 'pending')
    assert.equal(failed.validation?.attempt, 1)
    const waitMs = Date.parse(failed.validation?.next ?? '') - Date.now()
    assert(waitMs > 20_000 && waitMs <= 60_000, `the next attempt is in ${waitMs} ms`)
    assert.match(failed.reason ?? '', /elsewhere\.example\.test/)

    for (const object of [uuid, name, host]) {
      const { stdout } = await roost(scene.stack, 'cert', 'explain', object)
      assert.match(stdout, /127\.0\.0\.3/)
      assert.match(stdout, /roost admin cert retry/)
    }

    await scene.point(host)
    const before = scene.pebble.said()
    await roost(scene.stack, 'cert', 'retry', host)
    const retriedMs = performance.now()
    const view = await untilState(api(), uuid, 'valid')
    assert(performance.now() - retriedMs < waitMs / 2)
    assert.equal(view.reason, undefined)
    assert.deepEqual(madeSince(before), { orders: 1, certificates: 1 })
    await untilShown(host, gateway(), view.serial_number)
    assert.match((await roost(scene.stack, 'cert', 'explain', host)).stdout, /valid/)
  })

  it('come by port 443 where port 80 is closed', async () => {
    const host = 'closed.example.test'
    await scene.point(host)
    const open = closePort80()
    try {
      const { uuid, domains } = await createService(api(), 'closed', [host])
      const view = await untilState(api(), domains[0]?.certificate?.uuid ?? '', 'valid')
      await untilShown(host, gateway(), view.serial_number)
      const { stdout } = await roost(scene.stack, 'cert', 'explain', host)
      assert.match(stdout, /tls-alpn-01/)
      await api().one('deleteServices', { object: uuid })
    } finally {
      open()
    }
  })

  it('come exactly once each where the worker is killed in the middle', async () => {
    const hosts = ['kill-a', 'kill-b', 'kill-c', 'kill-d'].map((label) => `${label}.example.test`)
    await Promise.all(hosts.map((host) => scene.point(host)))
    const before = scene.pebble.said()
    const made = await Promise.all(hosts.map((host, index) => createService(api(), `kill-${index}`, [host])))
    const uuids = made.map(({ domains }) => domains[0]?.certificate?.uuid ?? '')
    await until('one of them is ordered', () => madeSince(before).orders > 0, { limitMs })
    const restarted = scene.stack.killPart('worker')
    const atKill = await Promise.all(uuids.map((uuid) => certificateView(api(), uuid)))
    assert(atKill.some(({ state }) => state === 'pending'))
    await restarted
    const views = await Promise.all(uuids.map((uuid) => untilState(api(), uuid, 'valid')))
    for (const [index, host] of hosts.entries()) {
      await untilShown(host, gateway(), views[index]?.serial_number)
    }
    assert.equal(madeSince(before).certificates, hosts.length)
    for (const { uuid } of made) await api().one('deleteServices', { object: uuid })
  })

  it('are renewed while they serve: no request fails, and the new one is shown', async () => {
    const host = 'renewed.example.test'
    await scene.point(host)
    const made = await api().one('createInstances', {
      body: {
        name: 'renewed',
        image: 'counter',
        autostart: true,
        wait_timeout_ms: limitMs,
        service_group: {
          services: [{ port: 443, destination_port: 8_080 }],
          domains: [{ name: `${host}.` }],
        },
      },
    })
    const uuid = made.service_group?.domains[0]?.certificate?.uuid ?? ''
    const old = await untilState(api(), uuid, 'valid')
    const before = scene.pebble.said()
    const traffic = visit(host)
    try {
      await until('there is traffic', () => traffic.answered() > 20, { limitMs })
      await makeDue(uuid)
      const installed = await until(
        'another one is installed',
        async () => {
          const seen = await certificateView(api(), uuid)
          assert.equal(seen.state, 'valid')
          return seen.serial_number !== old.serial_number && seen
        },
        { limitMs },
      )
      await untilShown(host, gateway(), installed.serial_number)
      const until20More = traffic.answered() + 20
      await until('there is traffic still', () => traffic.answered() > until20More, { limitMs })
    } finally {
      assert.deepEqual(await traffic.end(), [])
    }
    assert.deepEqual(madeSince(before), { orders: 1, certificates: 1 })
    await api().one('deleteInstances', { object: made.uuid })
  })

  it('have keys that no history, log, file or process shows', async () => {
    const traces = new PrivateKeyTraces()
    const keys = await scene.inside.privateKeys()
    assert(keys.length > 0)
    keys.forEach((key, index) => traces.add(`certificate ${index}`, key))
    const histories = await scene.inside.histories()
    assert(histories.bytes.includes('renewed.example.test'))
    assert.deepEqual(
      [
        ...traces.in('output', scene.stack.output()),
        ...traces.in('histories', histories.bytes),
        ...traces.inProcesses(),
        ...traces.inFiles(scene.stack.dataDir, holdsNoKeys),
      ],
      [],
    )
  })

  /** Refuses connections to port 80, as a firewall that rejects does. */
  function closePort80(): () => void {
    const rule = `ip daddr ${address} tcp dport 80 reject with tcp reset`
    const ruleset = `table ip closed { chain input { type filter hook input priority 0; ${rule}\n }; }\n`
    execFileSync('nft', ['-f', '-'], { input: ruleset })
    return () => execFileSync('nft', ['delete', 'table', 'ip', 'closed'])
  }

  /**
   * Makes the renewal due now, as weeks of waiting would. The workflow remembers the old time, so it is ended
   * and has to start again from the row.
   */
  async function makeDue(uuid: string): Promise<void> {
    await scene.inside.workflows.getHandle(certificateWorkflowId(uuid)).terminate()
    await readRows(scene.inside.database, {
      text: 'update certificates set next_at = now(), workflow_started_at = null where uuid = $1',
      values: [uuid],
    })
  }

  /** Sends requests all the time: two clients keep their connections, two open a new one for each request. */
  function visit(host: string) {
    const failures: string[] = []
    let answered = 0
    let isOver = false
    const ask = async (headers: Readonly<Record<string, string>>) => {
      while (!isOver) {
        try {
          const { status } = await scene.names.get(`https://${host}/count`, { headers })
          if (status === 200) answered++
          else failures.push(`HTTP ${status}`)
        } catch (error) {
          failures.push(String(error))
        }
        await delay(pauseMs)
      }
    }
    const visitors = [ask({}), ask({}), ask({ connection: 'close' }), ask({ connection: 'close' })]
    return {
      answered: () => answered,
      async end() {
        isOver = true
        await Promise.all(visitors)
        return failures
      },
    }
  }
})

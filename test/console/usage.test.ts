import assert from 'node:assert/strict'
import { seriesOf, sleepsIn, sumText } from '../../console/usage/usage-data.ts'
import type { UsageStep } from '../../console/usage/usage-data.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { findings } from '../support/console-axe.ts'
import { signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'

const startMs = Date.parse('2026-03-01T00:00:00Z')
const stepMs = 5_000

function step(index: number, over: Partial<UsageStep> = {}): UsageStep {
  return {
    at: new Date(startMs + index * stepMs).toISOString(),
    seen_ms: 5_000,
    rss_bytes: 50 * 1_048_576,
    cpu_time_ms: 500,
    rx_bytes: 10_000,
    rx_packets: 10,
    tx_bytes: 5_000,
    tx_packets: 5,
    nrequests: 10,
    nwakes: 0,
    in_flight_ms: 0,
    ...over,
  }
}

function change(afterMs: number, from: string, to: string): UserEvent {
  const at = new Date(startMs + afterMs).toISOString()
  return { kind: 'instance.state', at, from, to } as unknown as UserEvent
}

describe('the usage of an instance in the console', () => {
  describe('is laid out', () => {
    const span = { fromMs: startMs, toMs: startMs + 4 * stepMs }

    it('over all steps of its time, with gaps where nothing is known', () => {
      const series = seriesOf([step(0), step(3, { seen_ms: 1_000, nwakes: 1 })], stepMs, span)
      assert.deepEqual(
        series.times,
        [0, 1, 2, 3, 4].map((index) => (startMs + index * stepMs) / 1_000),
      )
      assert.deepEqual(series.processor, [10, null, null, 50, null])
      assert.deepEqual(series.memoryMb, [50, null, null, 50, null])
      assert.deepEqual(series.requestsPerS, [2, null, null, 2, null])
      assert.deepEqual(series.wakes, [(startMs + 3 * stepMs) / 1_000])
    })

    it('with sleeps from the events, cut at the ends of its time', () => {
      const at = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => [fromMs - startMs, toMs - startMs]
      const sleeps = sleepsIn(
        [change(18_000, 'running', 'standby'), change(2_000, 'standby', 'starting')],
        span,
        true,
      )
      assert.deepEqual(sleeps.map(at), [
        [0, 2_000],
        [18_000, 20_000],
      ])
      const woken = [change(5_000, 'running', 'standby'), change(9_000, 'standby', 'starting')]
      assert.deepEqual(sleepsIn(woken, span, false).map(at), [[5_000, 9_000]])
      assert.deepEqual(sleepsIn([], span, true), [span])
      assert.deepEqual(sleepsIn([], span, false), [])
    })

    it('with how many ran, were in flight, and how long one took', () => {
      const steps = [
        step(0, { seen_ms: 15_000, cpu_time_ms: 7_500, in_flight_ms: 2_000 }),
        step(2, { nrequests: 0 }),
      ]
      const series = seriesOf(steps, stepMs, { fromMs: startMs, toMs: startMs + 2 * stepMs })
      assert.deepEqual(series.running, [3, null, 1])
      assert.deepEqual(series.millicores, [1_500, null, 100])
      assert.deepEqual(series.inFlight, [0.4, null, 0])
      assert.deepEqual(series.requestS, [0.2, null, null])
    })

    it('in a sentence too', () => {
      assert.equal(sumText([]), 'It did not run in this time.')
      assert.equal(
        sumText([step(0), step(1, { nwakes: 1 })]),
        '1.0 s of processor time, at most 50 MiB of memory, 20 requests, 1 wake.',
      )
    })
  })

  describe('is shown', () => {
    const scene = consoleScene()

    it('as charts, with its sleeps and wakes, for each of the ranges', async () => {
      const { api, user, page } = scene
      const { uuid } = await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
      const now = Date.now()
      const known = (lengthMs: number, bytes: number) =>
        Array.from({ length: 100 }, (_, index) => {
          const { at: _at, seen_ms: seenMs } = step(0, { seen_ms: lengthMs })
          const atMs = Math.floor(now / lengthMs) * lengthMs - index * lengthMs
          return {
            atMs,
            seenMs,
            rssBytes: bytes + 1e5 * index,
            cpuTimeMs: (index % 10) * 50,
            rxBytes: 1_000 * index,
            rxPackets: index,
            txBytes: 500 * index,
            txPackets: index,
            handled: index % 7,
            wakes: index % 20 === 0 ? 1 : 0,
            inFlightMs: 100 * index,
          }
        })
      api.nodes.histories.set(uuid, known(stepMs, 40e6))
      await signIn(page, user.token)
      await page.goto(`${api.url}/console/instances/${uuid}/usage`)
      await untilShown(page, /s of processor time, at most 48 MiB of memory, \d+ requests, 5 wakes\./)
      await page.waitForFunction("document.querySelectorAll('.charts canvas').length === 4")
      const isDrawn = `(() => {
        const canvas = document.querySelector('.charts canvas')
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        return data.some((value) => value > 0)
      })()`
      assert.equal(await page.evaluate(isDrawn), true)
      const before = await page.evaluate('document.querySelector(".charts").clientHeight')
      api.nodes.histories.set(uuid, known(300_000, 60e6))
      await page.locator('button::-p-text(Last day)').click()
      await untilShown(page, /at most 67 MiB/)
      assert.equal(await page.evaluate('document.querySelectorAll(".charts canvas").length'), 4)
      assert.equal(await page.evaluate('document.querySelector(".charts").clientHeight'), before)
      assert.deepEqual(await findings(page), [])
    })

    it('for a service too, with the time of a request and how many instances ran', async () => {
      const { api, user, page } = scene
      const { service_group: service } = await user.api.one('createInstances', {
        body: { name: 'web', image: 'hello', service_group: { services: [{ port: 443 }] } },
      })
      const atMs = Math.floor(Date.now() / stepMs) * stepMs - stepMs
      const counters = { rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0, wakes: 0 }
      const used = { ...counters, atMs, seenMs: 10_000, rssBytes: 50e6, cpuTimeMs: 1_500 }
      api.nodes.histories.set(`local ${service?.uuid}`, [{ ...used, handled: 40, inFlightMs: 8_000 }])
      await signIn(page, user.token)
      await scene.open(
        `services/${service?.uuid}`,
        '1.5 s of processor time, at most 48 MiB of memory, 40 requests',
      )
      await page.waitForFunction("document.querySelectorAll('.charts canvas').length === 4")
      await page.hover('.charts canvas')
      const legends = 'Array.from(document.querySelectorAll(".u-title"), (title) => title.innerText)'
      assert.deepEqual(await page.evaluate(legends), [
        'Requests and connections',
        'Time of a request',
        'Processor',
        'Instances that run',
      ])
      await scene.assertFit(`services/${service?.uuid}`, '1.5 s of processor time')
    })
  })
})

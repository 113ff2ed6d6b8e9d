import assert from 'node:assert/strict'
import { startBrowser } from '../support/browser.ts'
import type { Browser } from '../support/browser.ts'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

const asRoot = process.getuid?.() === 0

describe('a published page', function () {
  let stack: Stack
  let names: PublicNames
  let browser: Browser
  let web: Published
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    browser = await startBrowser(names.caFile)
    web = await publish(stack, 'page', {
      scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000, stateful: true },
    })
  })
  after(async () => {
    await browser?.close()
    await names?.close()
    if (web !== undefined) await stack.api.one('deleteInstances', { object: web.uuid })
  })

  it('opens in a browser over TLS that it trusts, also where its instance sleeps', async () => {
    for (const visits of [1, 2]) {
      const page = await browser.open(`https://${web.host}/`)
      assert.match(await page.text(), new RegExp(`Asked\\s+${visits}\\s+times since its memory began`))
      assert.equal(await page.evaluate('isSecureContext'), true)
      await untilAsleep(stack, web.uuid)
    }
  })

  it('is where plain HTTP redirects to', async () => {
    const page = await browser.open(`http://${web.host}/count`)
    assert.equal(await page.evaluate('location.protocol'), 'https:')
    assert.match((await page.text()).trim(), /^\d+$/)
  })

  it('speaks HTTP/2 with the browser', async () => {
    const page = await browser.open(`https://${web.host}/`)
    const protocol = await page.evaluate(`performance.getEntriesByType('navigation')[0].nextHopProtocol`)
    assert.equal(protocol, 'h2')
  })

  it('may open a WebSocket, which keeps it awake', async () => {
    const page = await browser.open(`https://${web.host}/`)
    const answer = await page.evaluate<string>(`new Promise((resolve, reject) => {
      window.socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws')
      socket.onopen = () => socket.send('from a browser')
      socket.onmessage = ({ data }) => resolve(data)
      socket.onerror = () => reject(new Error('it failed'))
    })`)
    assert.match(answer, /^\d+ from a browser$/)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    assert.equal((await viewOf(stack.api, web.uuid)).state, 'running')
    await page.evaluate('socket.close()')
    await untilAsleep(stack, web.uuid)
  })

  it('that nobody publishes says so, to a person as a page and to a program as JSON', async () => {
    const page = await browser.open(`https://nobody.${web.host.split('.').slice(1).join('.')}/`)
    assert.match(await page.text(), /There is no service on this URL\./)
    const answer = await names.get(`https://nobody.${web.host.split('.').slice(1).join('.')}/`, {
      headers: { accept: 'application/json' },
    })
    assert.equal(answer.status, 404)
    assert.deepEqual(JSON.parse(answer.text), {
      status: 'error',
      message: 'There is no service on this URL.',
    })
  })
})

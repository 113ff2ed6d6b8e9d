import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Page } from 'puppeteer-core'
import { createToken, revokeToken } from '../../src/db/account/tokens.ts'
import { sealEnv } from '../../src/db/instance/row.ts'
import { TokenScope } from '../../src/domain/account/token-scope.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { testSecretBox } from '../support/accounts.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { findings as findingsOn } from '../support/console-axe.ts'
import { shownText, signIn, untilShown } from '../support/console-browser.ts'
import type { ConsoleBrowser } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'
import { startLogHost } from '../support/log-host.ts'
import { startRelay } from '../support/relay.ts'
import { readRows } from '../support/rows.ts'

const narrow = { width: 390, height: 800 }
/** The most that a first visit may load, and how soon it has to show the first useful picture. */
const mostBytes = 200_000
const firstPictureMs = 1_000

describe('the console in a browser', () => {
  const scene = consoleScene()
  let api: TestApi
  let chromium: ConsoleBrowser
  let user: TestUser
  let page: Page
  beforeEach(() => {
    ;({ api, chromium, user, page } = scene)
  })

  const create = (body: Readonly<Record<string, unknown>>) =>
    user.api.one('createInstances', { body: { image: 'hello:latest', ...body } })
  const path = () => page.evaluate('location.pathname') as Promise<string>

  const findings = () => findingsOn(page)

  describe('signs in', () => {
    it('with a token, and says what is wrong with another one', async () => {
      await page.locator('input[name="token"]').fill('bm9ib2R5OnNlY3JldA==')
      await page.keyboard.press('Enter')
      await untilShown(page, 'This token is not known here, or it was revoked')
      assert.deepEqual(await findings(), [])
      await signIn(page, user.token)
      await untilShown(page, 'Nothing runs here yet')
      await untilShown(page, user.name)
    })

    it('keeps nothing of the token where a script could read it', async () => {
      await signIn(page, user.token)
      const kept = await page.evaluate(
        'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
      )
      assert.equal(kept, '{}{}')
    })

    it('stays signed in over a reload, and not after signing out', async () => {
      await signIn(page, user.token)
      await page.reload()
      await page.waitForSelector('.frame h1')
      await page.locator('button[title="Sign out"]').click()
      await page.waitForSelector('input[name="token"]')
      await page.reload()
      await page.waitForSelector('input[name="token"]')
    })

    it('again when the session ends, at the page where a person was', async () => {
      const { uuid, token } = await createToken(api.database, { userUuid: user.uuid })
      const { uuid: instance } = await create({ name: 'web' })
      await signIn(page, token)
      await page.goto(`${api.url}/console/instances/${instance}/timeline`)
      await untilShown(page, 'Was created')
      await revokeToken(api.database, uuid)
      await untilShown(page, 'Your session has ended. Sign in again to go on where you were.', 20_000)
      await signIn(page, user.token)
      assert.equal(await path(), `/console/instances/${instance}/timeline`)
      await untilShown(page, 'Was created')
    })
  })

  describe('shows', () => {
    it('what happens as it happens, without a reload', async () => {
      await signIn(page, user.token)
      await untilShown(page, 'Live')
      const { uuid } = await create({ name: 'web', autostart: true })
      await untilShown(page, /web (was created|is to start)/)
      await api.control.finishStart(uuid)
      await page.goto(`${api.url}/console/instances`)
      await untilShown(page, /web\s+Running/)
      await api.control.record(uuid, { state: InstanceState.Standby, stoppedAtMs: Date.now() })
      await user.api.one('stopInstances', { object: uuid })
      await untilShown(page, /web\s+Stopped/)
      await user.api.one('deleteInstances', { object: uuid })
      await untilShown(page, 'Nothing runs here yet')
    })

    it('to each tenant only what is theirs', async () => {
      const other = await api.addUser()
      const theirs = await other.api.one('createInstances', {
        body: { name: 'secret', image: 'hello:latest' },
      })
      await create({ name: 'mine' })
      await signIn(page, user.token)
      await untilShown(page, 'mine was created')
      await page.goto(`${api.url}/console/instances/${theirs.uuid}`)
      await untilShown(page, 'No such instance')
      await page.goto(`${api.url}/console/instances`)
      await untilShown(page, '1 in all')
      assert.doesNotMatch(await shownText(page), /secret/)
    })

    it('that it is not connected while the API is away, and goes on when it is back', async () => {
      const relay = await startRelay({ host: '127.0.0.1', port: Number(new URL(api.url).port) })
      const away = await chromium.open(`http://127.0.0.1:${relay.port}/console/`)
      await signIn(away, user.token)
      await untilShown(away, 'Live')
      relay.cut()
      await untilShown(away, 'Not connected')
      await create({ name: 'meanwhile' })
      relay.mend()
      await untilShown(away, 'Live', 20_000)
      await untilShown(away, 'meanwhile was created')
      await away.browserContext().close()
      await relay.close()
    })

    it('a token that may only read no buttons that would be refused', async () => {
      const rights = { scopes: [TokenScope.Read], services: null }
      const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
      const { uuid } = await create({ name: 'web' })
      await signIn(page, token)
      await page.goto(`${api.url}/console/instances/${uuid}`)
      await untilShown(page, 'Latest events')
      assert.doesNotMatch(await shownText(page), /\b(Start|Stop|Delete|Create an instance)\b/)
    })

    it('a token that is limited to a service what belongs to that, without events', async () => {
      const { service_group: service } = await create({
        name: 'web',
        service_group: { services: [{ port: 443, destination_port: 8080 }] },
      })
      await create({ name: 'other' })
      const rights = { scopes: [TokenScope.Operate], services: [service!.name] }
      const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
      await signIn(page, token)
      await untilShown(page, 'only a token for the whole account sees events')
      await page.goto(`${api.url}/console/instances`)
      await untilShown(page, '1 in all')
    })

    it('what an instance prints, and only the lines with the words that are searched for', async () => {
      const { uuid } = await create({ name: 'web' })
      const text = Array.from({ length: 300 }, (_, line) => `\u001B[32mline ${line}\u001B[0m`).join('\n')
      const { readLog } = api.nodes
      const host = await startLogHost(api)
      await host.print(uuid, text)
      await readRows(api.database, {
        text: `update instances set boot = 1, start_count = 1 where uuid = '${uuid}'`,
      })
      await signIn(page, user.token)
      await page.goto(`${api.url}/console/instances/${uuid}/log`)
      await untilShown(page, 'line 299')
      await host.print(uuid, '\nline 1299')
      await untilShown(page, 'line 1299')
      await page.keyboard.press('/')
      await page.keyboard.type('line 12')
      await untilShown(page, /12 of \d+ lines/)
      assert.match(await shownText(page), /^line 1299$/m)
      assert.deepEqual(await findings(), [])
      api.nodes.readLog = readLog
      await host.close()
    })
  })

  describe('changes', () => {
    it('creates an instance from a form, and shows it', async () => {
      await signIn(page, user.token)
      await page.keyboard.press('c')
      await page.locator('input[name="image"]').fill('hello:latest')
      await page.locator('input[name="name"]').fill('from-a-form')
      await untilShown(page, '"name": "from-a-form"')
      await page.locator('button[type="submit"]').click()
      await untilShown(page, 'from-a-form was created.')
      assert.match(await path(), /^\/console\/instances\/[0-9a-f-]{36}$/)
      const [made] = await user.api.call('getInstances')
      assert.equal(made?.name, 'from-a-form')
      assert.deepEqual(await findings(), [])
    })

    it('says what is wrong in a form, by the API or before', async () => {
      await signIn(page, user.token)
      await page.keyboard.press('c')
      await page.locator('input[name="name"]').fill('web')
      await page.locator('button[type="submit"]').click()
      await untilShown(page, 'Give an image, such as hello:latest.')
      assert.equal(await page.evaluate('document.activeElement.name'), 'image')
      await page.locator('input[name="image"]').fill('nothing:latest')
      await page.locator('button[type="submit"]').click()
      await untilShown(page, "No image 'nothing:latest'")
    })

    it('starts, suspends, stops and deletes one, and asks before it deletes', async () => {
      const { uuid } = await create({ name: 'web' })
      await signIn(page, user.token)
      await page.goto(`${api.url}/console/instances/${uuid}`)
      await page.locator('.actions button::-p-text(Start)').click()
      await untilShown(page, 'web starts.')
      await api.control.finishStart(uuid)
      await page.locator('.actions button::-p-text(Suspend)').click()
      await untilShown(page, 'web goes to sleep.')
      await page.locator('.actions button::-p-text(Stop)').click()
      await untilShown(page, 'web stops.')
      await page.locator('.actions button::-p-text(Delete)').click()
      await untilShown(page, 'Delete web?')
      await page.keyboard.press('Escape')
      assert.ok(await user.api.one('getInstances', { object: uuid }))
      await page.locator('.actions button::-p-text(Delete)').click()
      await page.locator('dialog button::-p-text(Delete)').click()
      await untilShown(page, 'web was deleted.')
      assert.equal(await path(), '/console/instances')
    })

    it('several at once, by the keyboard alone', async () => {
      for (const name of ['a', 'b', 'c']) await create({ name })
      await signIn(page, user.token)
      await page.keyboard.press('g')
      await page.keyboard.press('i')
      await untilShown(page, '3 in all')
      await page.focus('[role="grid"]')
      for (const key of ['Space', 'ArrowDown', 'Space'] as const) await page.keyboard.press(key)
      await untilShown(page, '2 selected')
      await page.keyboard.press('End')
      await page.keyboard.press('Enter')
      await page.waitForFunction(`document.querySelector('h1')?.textContent === 'c'`)
    })
  })

  it('opens each page by two keys', async () => {
    await signIn(page, user.token)
    for (const [key, title] of [
      ['s', 'Services'],
      ['v', 'Volumes'],
      ['m', 'Images'],
      ['c', 'Certificates'],
      ['a', 'Autoscale'],
      ['y', 'Account'],
      ['i', 'Instances'],
      ['o', 'Overview'],
    ]) {
      await page.keyboard.press('g')
      await page.keyboard.press(key as 's')
      await page.waitForFunction(`document.querySelector('h1')?.textContent === '${title}'`)
    }
    await page.keyboard.press('?')
    await untilShown(page, /g\s+c\s+Go to the certificates/)
  })

  it('keeps 5000 instances in view without a stutter', async () => {
    const { uuid } = await create({ name: 'web-0' })
    await copyInstance(uuid, 4_999)
    await signIn(page, user.token)
    await page.goto(`${api.url}/console/instances`)
    await untilShown(page, '5000 in all', 30_000)
    // A frame costs what is in the page: the rows that are seen, wherever the list stands.
    const mostRows = Number(
      await page.evaluate(`new Promise((resolve) => {
        const grid = document.querySelector('[role="grid"]')
        let frames = 0, most = 0
        const step = () => {
          most = Math.max(most, document.querySelectorAll('[role="row"]').length)
          grid.scrollTop += 2300
          if (++frames < 90) requestAnimationFrame(step)
          else resolve(most)
        }
        requestAnimationFrame(step)
      })`),
    )
    assert.ok(mostRows > 1 && mostRows < 60, `${mostRows} rows were in the page`)
    assert.ok(Number(await page.evaluate(`document.querySelector('[role="grid"]').scrollTop`)) > 100_000)
    await page.keyboard.press('/')
    await page.keyboard.type('web-4321')
    await untilShown(page, '1 of 5000')
  })

  for (const scheme of ['light', 'dark'] as const) {
    it(`is accessible in ${scheme}, on a narrow screen too`, async () => {
      const { uuid } = await create({ name: 'web', autostart: true })
      await create({ name: 'job' })
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      assert.deepEqual(await findings(), [])
      await signIn(page, user.token)
      for (const size of [{ width: 1280, height: 800 }, narrow]) {
        await page.setViewport(size)
        for (const at of [
          '',
          'instances',
          'instances/new',
          ...['', '/timeline', '/settings'].map((view) => `instances/${uuid}${view}`),
        ]) {
          await page.goto(`${api.url}/console/${at}`)
          await page.waitForSelector('h1')
          await untilShown(page, at === 'instances/new' ? 'Public name' : /web|Web|Was created|Identifier/)
          assert.deepEqual(await findings(), [], `/console/${at} at ${size.width}`)
          const beyond = 'document.documentElement.scrollWidth > innerWidth'
          assert.equal(await page.evaluate(beyond), false, `/console/${at} is wider than ${size.width}`)
        }
      }
    })
  }

  it('is small and quick at the first visit', async () => {
    await create({ name: 'web' })
    await signIn(page, user.token)
    const devtools = await page.createCDPSession()
    await devtools.send('Network.enable')
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
    const shownMs: number[] = []
    for (let visit = 0; visit < 3; visit++) {
      bytes = 0
      await page.goto(`${api.url}/console/instances`)
      await untilShown(page, '1 in all')
      shownMs.push(Number(await page.evaluate('performance.now()')))
    }
    assert.ok(bytes < mostBytes, `${bytes} bytes`)
    assert.ok(Math.min(...shownMs) < firstPictureMs, `after ${shownMs.map(Math.round).join(', ')} ms`)
  })

  /** Copies an instance's row, so that there are many without thousands of requests. */
  async function copyInstance(uuid: string, count: number): Promise<void> {
    const columns = await readRows<{ name: string }>(api.database, {
      text: `select column_name as name from information_schema.columns
        where table_name = 'instances' and column_name not in ('uuid', 'name', 'private_ip', 'env_sealed', 'position')`,
    })
    const list = columns.map(({ name }) => `"${name}"`).join(', ')
    const copies = Array.from({ length: count }, (_, index) => {
      const copy = randomUUID()
      const host = 300 + index
      const ip = `10.64.${host >> 8}.${host & 255}`
      return {
        uuid: copy,
        name: `web-${index + 1}`,
        private_ip: ip,
        env_sealed: sealEnv(testSecretBox, copy, {}),
      }
    })
    await readRows(api.database, {
      text: `insert into instances (uuid, name, private_ip, env_sealed, ${list})
        select copy.uuid, copy.name, copy.private_ip, copy.env_sealed, ${list} from instances,
        jsonb_to_recordset($1) as copy (uuid uuid, name text, private_ip text, env_sealed text)
        where instances.uuid = $2`,
      values: [JSON.stringify(copies), uuid],
    })
  }
})

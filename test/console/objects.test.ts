import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'puppeteer-core'
import { createToken } from '../../src/db/account/tokens.ts'
import { addAttempt, endAttempt } from '../../src/db/certificate/attempts.ts'
import { TokenScope } from '../../src/domain/account/token-scope.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { makeTestCertificate } from '../support/certificate-maker.ts'
import { shownText, signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'

const publicPort = 7_443

describe('the console shows services, volumes, images and certificates', () => {
  const scene = consoleScene({ publicPorts: { offset: publicPort - 443, withheld: new Set() } })
  const { open, assertFit } = scene
  let api: TestApi
  let user: TestUser
  let page: Page
  beforeEach(() => {
    ;({ api, user, page } = scene)
  })

  const click = async (selector: string) => await page.locator(selector).click()
  const pathNow = async () => String(await page.evaluate('location.pathname'))
  const createInstance = (body: Readonly<Record<string, unknown>>) =>
    user.api.one('createInstances', { body: { image: 'hello:latest', ...body } })
  /** Each test has a user of its own, and so domains of its own. */
  const domainOf = (name: string) => `${name}-${user.name}`
  const createService = async (name: string) =>
    await user.api.one('createServices', {
      body: { name, services: [{ port: 443, destination_port: 8080 }], domains: [{ name: domainOf(name) }] },
    })
  const limitedTo = async (service: string) => {
    const rights = { scopes: [TokenScope.Operate], services: [service] }
    return (await createToken(api.database, { userUuid: user.uuid, rights })).token
  }
  const readOnly = async () => {
    const rights = { scopes: [TokenScope.Read], services: null }
    return (await createToken(api.database, { userUuid: user.uuid, rights })).token
  }

  describe('services', () => {
    it('says what to do if there are none, and creates one by a form', async () => {
      await signIn(page, user.token)
      await open('services', 'Nothing is published yet')
      await untilShown(page, 'npx roost service create')
      await click('a::-p-text(Create a service)')
      await page.locator('input[name="name"]').fill('web')
      await page.locator('input[name="domains"]').fill(`${domainOf('web')} shop.example.com.`)
      await page.locator('input[name="ports"]').fill('443:99999')
      await click('button[type="submit"]')
      await untilShown(page, "such as 443:8080; '443:99999' is none")
      await page.locator('input[name="ports"]').fill('443:8081')
      await click('input[name="redirects"]')
      await untilShown(page, '--port 80:443/http+redirect')
      await click('button[type="submit"]')
      await untilShown(page, 'web was created.')
      const [made] = await user.api.call('getServices')
      assert.equal(await pathNow(), `/console/services/${made?.uuid}`)
      assert.deepEqual(made?.services, [
        { port: 443, destination_port: 8081, handlers: ['tls', 'http'] },
        { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
      ])
      assert.deepEqual(made?.domains?.map(({ fqdn }) => fqdn).toSorted(), [
        'shop.example.com',
        `${domainOf('web')}.metro.test`,
      ])
      await assertFit('services/new', 'Ports')
    })

    it('shows one: its domains as links, who serves it, its traffic, why and its events', async () => {
      const { uuid } = await createService('web')
      const { uuid: instance } = await createInstance({
        name: 'first',
        autostart: true,
        service_group: { name: 'web' },
      })
      await signIn(page, user.token)
      await open(`services/${uuid}`, /first\s+Running/)
      await untilShown(page, '1 of 1 running')
      await untilShown(page, /Next: /)
      await untilShown(page, 'Was created')
      await untilShown(page, /From its kept memory\s+0/)
      const links = await page.evaluate(`[...document.querySelectorAll('a[target]')].map(({ href }) => href)`)
      assert.deepEqual(links, [`https://${domainOf('web')}.metro.test:${publicPort}/`])
      await createInstance({ name: 'second', service_group: { name: 'web' } })
      await untilShown(page, /second\s+Stopped/)
      await assertFit('services', '1 in all')
      await assertFit(`services/${uuid}`, /second\s+Stopped/)
      await open(`instances/${instance}`, 'Private address')
      assert.deepEqual(
        await page.evaluate(`[...document.querySelectorAll('a[target]')].map(({ href }) => href)`),
        links,
      )
    })

    it('deletes one after a question, and says why it can not', async () => {
      const { uuid } = await createService('web')
      const { uuid: instance } = await createInstance({ name: 'first', service_group: { name: 'web' } })
      await signIn(page, user.token)
      await open(`services/${uuid}`, 'Was created')
      await click('.actions button::-p-text(Delete)')
      await click('dialog button::-p-text(Delete)')
      await untilShown(page, "'web' has instances attached: delete them first")
      await user.api.one('deleteInstances', { object: instance })
      await untilShown(page, 'Nobody yet')
      await click('.actions button::-p-text(Delete)')
      await click('dialog button::-p-text(Delete)')
      await untilShown(page, 'web was deleted.')
      assert.equal(await pathNow(), '/console/services')
      await untilShown(page, 'Nothing is published yet')
    })

    it('shows a limited token only its own, and no button that would be refused', async () => {
      await createService('web')
      const { uuid: other } = await createService('other')
      await signIn(page, await limitedTo('web'))
      await open('services', '1 in all')
      assert.doesNotMatch(await shownText(page), /other|Create a service/)
      await open(`services/${other}`, 'No such service')
      await signInAgain(await readOnly())
      await open(`services/${other}`, 'Who serves')
      assert.doesNotMatch(await shownText(page), /\bDelete\b/)
    })

    it('keeps hundreds in view, and finds one', async () => {
      for (let from = 0; from < 200; from += 100) {
        await user.api.call('createServices', {
          body: Array.from({ length: 100 }, (_, index) => ({ name: `web-n${from + index}`, services: [] })),
        })
      }
      await signIn(page, user.token)
      await open('services', '200 in all')
      assert.ok(Number(await page.evaluate(`document.querySelectorAll('[role="row"]').length`)) < 60)
      await page.keyboard.press('/')
      await page.keyboard.type('n199')
      await untilShown(page, '1 of 200')
      await page.keyboard.press('Escape')
      await page.focus('[role="grid"]')
      await page.keyboard.press('Enter')
      await untilShown(page, 'It publishes none.')
    })
  })

  describe('volumes', () => {
    it('says what to do if there are none, and creates one by a form', async () => {
      await signIn(page, user.token)
      await open('volumes', 'No volumes yet')
      await click('a::-p-text(Create a volume)')
      await page.locator('input[name="name"]').fill('data')
      await page.locator('input[name="size"]').fill('much')
      await click('button[type="submit"]')
      await untilShown(page, "'much' is none")
      await page.locator('input[name="size"]').fill('64')
      await untilShown(page, 'npx roost volume create data --size 64M')
      await click('button[type="submit"]')
      await untilShown(page, 'data was created.')
      await untilShown(page, /data\s+Available/)
      await assertFit('volumes/new', 'Size in MiB')
    })

    it('attaches one, shows who uses it, detaches and deletes it', async () => {
      const { uuid } = await user.api.one('createVolumes', { body: { name: 'data', size_mb: 64 } })
      await createInstance({ name: 'web' })
      await signIn(page, user.token)
      await open(`volumes/${uuid}`, 'No instance has it')
      await page.locator('input[name="instance"]').fill('nobody')
      await click('button::-p-text(Attach)')
      await untilShown(page, /'nobody'/)
      await page.locator('input[name="instance"]').fill('web')
      await click('button::-p-text(Attach)')
      await untilShown(page, /web\s+Stopped\s+at \/data/)
      await assertFit('volumes', '1 in all')
      await assertFit(`volumes/${uuid}`, /web\s+Stopped\s+at \/data/)
      await click('button::-p-text(Detach)')
      await untilShown(page, 'No instance has it')
      await click('.actions button::-p-text(Delete)')
      await click('dialog button::-p-text(Delete)')
      await untilShown(page, 'data was deleted.')
      await untilShown(page, 'No volumes yet')
    })

    it('tells a limited token that only others see them', async () => {
      await createService('web')
      await signIn(page, await limitedTo('web'))
      await open('volumes', 'only a token for the whole account sees volumes')
    })
  })

  describe('images', () => {
    it('shows those that the account may run with their sizes, and how to push one', async () => {
      await signIn(page, user.token)
      await open('images', /hello:latest/)
      await untilShown(page, '1.0 MiB')
      await click('summary')
      await untilShown(page, 'npx roost push')
      await untilShown(page, 'https://registry.metro.test')
      await assertFit('images', /hello:latest/)
    })

    it('says why there are none to see, and tries again', async () => {
      api.images.fails = new Error('the registry is away')
      await signIn(page, user.token)
      await open('images', 'Try again')
      delete api.images.fails
      await click('button::-p-text(Try again)')
      await untilShown(page, /hello:latest/)
    })

    it('tells a limited token that only others see them', async () => {
      await createService('web')
      await signIn(page, await limitedTo('web'))
      await open('images', 'only a token for the whole account sees images')
    })
  })

  describe('certificates', () => {
    it('says what to do if there are none, uploads one and deletes it', async () => {
      const { pem, pkey } = await makeTestCertificate({ subject: 'CN=example.com', names: ['example.com'] })
      await signIn(page, user.token)
      await open('certificates', 'No certificates yet')
      await click('a::-p-text(Upload a certificate)')
      await page.locator('input[name="cn"]').fill('example.com')
      await page.locator('textarea[name="pkey"]').fill(pkey)
      await click('button[type="submit"]')
      await untilShown(page, 'Give the certificate')
      const directory = mkdtempSync(path.join(tmpdir(), 'roost-pem-'))
      const file = path.join(directory, 'chain.pem')
      writeFileSync(file, pem)
      const [chooser] = await Promise.all([page.waitForFileChooser(), page.click('input[name="chain-file"]')])
      await chooser.accept([file])
      await page.waitForFunction(`document.querySelector('[name="chain"]').value.startsWith('-----BEGIN')`)
      await click('button[type="submit"]')
      await untilShown(page, 'was uploaded.')
      rmSync(directory, { recursive: true })
      const [made] = await user.api.call('getCertificates')
      await untilShown(page, /CN=example\.com/)
      await assertFit('certificates', '1 in all')
      await assertFit(`certificates/${made?.uuid}`, /Next: /)
      await assertFit('certificates/new', 'Its private key')
      await open(`certificates/${made?.uuid}`, /Next: /)
      await click('.actions button::-p-text(Delete)')
      await click('dialog button::-p-text(Delete)')
      await untilShown(page, `${made?.name} was deleted.`)
      await untilShown(page, 'No certificates yet')
    })

    it('shows one that the platform gets, with its attempts and its service', async () => {
      await user.api.one('createServices', {
        body: {
          name: 'shop',
          services: [{ port: 443, destination_port: 8080 }],
          domains: [{ name: `${domainOf('shop')}.example.com.` }],
        },
      })
      const [made] = await user.api.call('getCertificates')
      await signIn(page, user.token)
      await open(`certificates/${made?.uuid}`, 'Attempts to get it')
      await untilShown(page, /Used by\s+shop/)
      const { uuid } = made!
      const number = (await addAttempt(api.database, uuid, { authority: 'Test CA' }))!
      const problem = { type: 'urn:ietf:params:acme:error:dns', detail: 'NXDOMAIN', status: 400 }
      await endAttempt(api.database, { uuid, number }, { outcome: 'failed', failure: 'no address', problem })
      await untilShown(page, /Attempt 1.*failed/)
      await untilShown(page, 'What to do')
      await untilShown(page, 'The authority Test CA wrote: NXDOMAIN')
      await assertFit(`certificates/${uuid}`, 'What to do')
    })

    it('tells a limited token that only others see them', async () => {
      await createService('web')
      await signIn(page, await limitedTo('web'))
      await open('certificates', 'only a token for the whole account sees certificates')
    })
  })

  it('hides the values of variables until somebody asks for them', async () => {
    const { uuid } = await createInstance({ name: 'web', env: { PASSWORD: 'tops3cret' } })
    await signIn(page, user.token)
    await open(`instances/${uuid}/settings`, /PASSWORD\s+hidden/)
    assert.doesNotMatch(await shownText(page), /tops3cret/)
    await click('button::-p-text(Show the values)')
    await untilShown(page, /PASSWORD\s+tops3cret/)
  })

  async function signInAgain(token: string): Promise<void> {
    await click('button[title="Sign out"]')
    await signIn(page, token)
  }
})

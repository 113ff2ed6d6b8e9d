import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { createToken } from '../../src/db/account/tokens.ts'
import { TokenScope } from '../../src/domain/account/token-scope.ts'
import { HostRole } from '../../src/domain/host/role.ts'
import { admitHost, inviteHost } from '../../src/db/host/joining.ts'
import { addNode, hearNode, keepLive } from '../support/accounts.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { shownText, signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'
import { readRows } from '../support/rows.ts'

const hostsAddress = { host: '192.0.2.10', port: 7075 }

describe('the pages of the console about hosts', () => {
  const scene = consoleScene({ hostsAddress })
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  let page: Page
  before(async () => {
    await addNode(scene.api.database, { id: 'Attic_2' })
    await readRows(scene.api.database, {
      text: "update nodes set heartbeat_at = '2026-01-02T03:04:05Z' where id = 'Attic_2'",
    })
  })
  beforeEach(async () => {
    ;({ api, user, page } = scene)
    admin = await api.addUser({ admin: true })
  })

  const press = (text: string) => page.locator(`.actions button::-p-text(${text})`).click()
  const confirm = (text: string) => page.locator(`dialog[open] button::-p-text(${text})`).click()
  const path = async () => String(await page.evaluate('location.pathname'))

  describe('for an administrator', () => {
    it('list what each has, and whether it is heard, as it changes', async () => {
      await signIn(page, admin.token)
      await page.locator('nav a::-p-text(Hosts)').click()
      await untilShown(page, /Attic_2\s+Silent\s+0 instances, 0 of 65536 MiB, 0 vCPUs\s+0\.1\.0\s+\d+ d\s/)
      await untilShown(page, /local\s+Live\s+0 instances, .*\s+0\.1\.0\s+just now/)
      const body = { image: 'hello:latest', scale_to_zero: { policy: 'on' } } as const
      const { uuid } = await user.api.one('createInstances', { body })
      await untilShown(page, /local\s+Live\s+1 instance, [1-9]\d+ of 65536 MiB, 1 vCPU\b/)
      await scene.assertFit('hosts', 'Attic_2')
      await user.api.one('deleteInstances', { object: uuid })
    })

    it('tell of one what it has, its room, and what that means', async () => {
      const { uuid } = await user.api.one('createInstances', {
        body: { image: 'hello:latest', scale_to_zero: { policy: 'on' } },
      })
      await hearNode(api.database, { id: 'local', cpus: 3 })
      await keepLive(api.database, 'local')
      await signIn(page, admin.token)
      await page.goto(`${api.url}/console/hosts`)
      await page.locator('.cell-name a::-p-text(local)').click()
      await untilShown(page, 'local is live: 1 instance sleeps;')
      await untilShown(page, 'Next: further instances are placed and started there as long as they fit')
      await untilShown(page, /vCPUs, 4 for each processor\s+1 of 12/)
      await untilShown(page, /Instances\s+1 standby/)
      await untilShown(page, /Processors\s+3\s/)
      await scene.assertFit('hosts/local', 'local is live')
      await scene.open('hosts/Attic_2', 'Attic_2 has been silent since Jan 2')
      await scene.assertPresentFit('hosts/silent')
      await user.api.one('deleteInstances', { object: uuid })
    })

    it('show the roles and labels that tell it from others', async () => {
      const invited = { hostId: 'edge', secret: 'the secret of edge', roles: [HostRole.Gateway] }
      await inviteHost(api.database, invited)
      await admitHost(api.database, {
        secret: invited.secret,
        keySha256: 'a key',
        roleKeys: { gateway: 'key' },
      })
      await hearNode(api.database, { id: 'edge' })
      await admin.api.one('labelHosts', { object: 'edge', body: { set: { zone: 'b', disk: 'nvme' } } })
      await signIn(page, admin.token)
      await scene.open('hosts', /edge\s+.*\s+gateway, 0 instances, .* 0 vCPUs, disk=nvme, zone=b\s/)
      await page.locator('.cell-name a::-p-text(edge)').click()
      await untilShown(page, /Roles\s+gateway\s+Labels\s+disk=nvme, zone=b\s/)
      await scene.assertFit('hosts/edge', 'disk=nvme, zone=b')
      await scene.open('hosts/local', /Roles\s+none\s+Labels\s+none\s/)
      await readRows(api.database, { text: "delete from nodes where id = 'edge'" })
    })

    it('cordon one after a question, and take that back', async () => {
      await signIn(page, admin.token)
      await scene.open('hosts/local', 'local is live')
      await press('Cordon')
      await untilShown(page, 'What it has goes on')
      await scene.assertPresentFit('hosts/question')
      await page.keyboard.press('Enter')
      await page.waitForFunction(`document.querySelector('dialog') === null`)
      assert.equal((await admin.api.one('getHosts', { object: 'local' })).cordoned_at, undefined)
      await press('Cordon')
      await confirm('Cordon')
      await untilShown(page, 'local takes no new instances.')
      await untilShown(page, 'no new instances are placed here, because an administrator cordoned it')
      const refused = await user.api.attempt('createInstances', { body: { image: 'hello:latest' } })
      assert.match(JSON.stringify(refused.entries), /administrators cordoned all that answer/)
      await scene.open('hosts', /local\s+Cordoned/)
      await scene.open('hosts/local', /local\s+Cordoned/)
      await press('Uncordon')
      await confirm('Uncordon')
      await untilShown(page, 'local takes new instances again.')
      const { uuid } = await user.api.one('createInstances', { body: { image: 'hello:latest' } })
      await user.api.one('deleteInstances', { object: uuid })
    })

    it('empty one after a question, show how far that is, and take it back', async () => {
      await signIn(page, admin.token)
      const { uuid } = await user.api.one('createInstances', { body: { image: 'hello:latest' } })
      await scene.open('hosts/local', 'local is live')
      await press('Drain')
      await untilShown(page, 'with their memory, their volumes and their addresses')
      await confirm('Drain')
      await untilShown(page, 'local is being emptied.')
      await untilShown(page, 'it is being emptied since')
      await scene.open('hosts/local', /local\s+Draining[^]*To move\s+\d/)
      await scene.assertFit('hosts/local', 'Draining')
      await press('Uncordon')
      await untilShown(page, 'It is not emptied any more')
      await confirm('Uncordon')
      await untilShown(page, 'local takes new instances again.')
      assert.equal((await admin.api.one('getHosts', { object: 'local' })).drain, undefined)
      await user.api.one('deleteInstances', { object: uuid })
    })

    it('tell how far an upgrade is as soon as it is told, and then how it ended', async () => {
      await signIn(page, admin.token)
      await scene.open('hosts/local', 'local is live')
      const told = { from: '0.1.0', to: '0.1.1', beganAtMs: Date.now() - 60_000 }
      const progress = { part: 'worker', exchanged: 3, parts: 7 }
      await hearNode(api.database, { id: 'local', upgrade: { ...told, state: 'exchanging', progress } })
      await untilShown(page, /local\s+Upgrading[^]*Upgrade\s+from 0\.1\.0 to 0\.1\.1, 3 of 7 parts\s/)
      await untilShown(
        page,
        'Next: Roost 0.1.1 takes over from 0.1.0: 3 of 7 parts are of 0.1.1, and worker is',
      )
      await scene.assertFit('hosts/local', 'Upgrading')
      await scene.open('hosts', /local\s+Upgrading/)
      await scene.open('', /host local is upgraded\s*·\s*Roost 0\.1\.1 takes over from Roost 0\.1\.0/)
      const over = { endedAtMs: Date.now(), why: 'worker ended with code 1 before it was ready' }
      await hearNode(api.database, { id: 'local', upgrade: { ...told, state: 'went-back', ...over } })
      await untilShown(page, /host local went back to the version before\s*·\s*worker ended with code 1/)
      await scene.open('hosts/local', /Upgrade\s+from 0\.1\.0 to 0\.1\.1, went back, /)
      await untilShown(page, /the upgrade to Roost 0\.1\.1 went back at .*, because worker ended with code 1/)
      await scene.assertFit('hosts/local', 'went back')
      await hearNode(api.database, { id: 'local' })
      await keepLive(api.database, 'local')
    })

    it('remove one that is silent, and say why another one stays', async () => {
      await hearNode(api.database, { id: 'gone' })
      await readRows(api.database, {
        text: "update nodes set heartbeat_at = now() - interval '1 h' where id = 'gone'",
      })
      await signIn(page, admin.token)
      await scene.open('hosts/local', 'local is live')
      await press('Remove')
      await confirm('Remove')
      await untilShown(page, "Host 'local' was heard of within the last 20 s: stop its agent first")
      await scene.open('hosts/gone', 'gone has been silent since')
      await press('Remove')
      await confirm('Remove')
      await untilShown(page, 'gone was removed.')
      assert.equal(await path(), '/console/hosts')
      await page.waitForFunction(`!document.querySelector('[role="grid"]').innerText.includes('gone')`)
      await scene.open('hosts/gone', 'It was removed, or the machine has not joined yet.')
    })

    it('invite a machine by a line that is shown once, until the machine is heard', async () => {
      await signIn(page, admin.token)
      await scene.open('hosts', 'Add a machine')
      await page.locator('main a::-p-text(Add a machine)').click()
      await page.locator('input[name="name"]').fill('no name')
      await page.keyboard.press('Enter')
      await untilShown(page, "Invalid host name 'no name': expected lower-case letters")
      await page.waitForSelector('input[name="name"][aria-invalid="true"]:focus')
      await page.locator('input[name="name"]').fill('cellar')
      await untilShown(page, 'npx roost host invite --name cellar')
      await page.keyboard.press('Enter')
      await untilShown(page, 'It is good for one machine and for an hour, until')
      await scene.assertPresentFit('hosts/invited')
      const ends = `document.querySelector('main pre').getBoundingClientRect().right`
      assert.ok(Number(await page.evaluate(ends)) < 390, 'the line is wider than its card')
      const line = String(await page.evaluate(`document.querySelector('main pre').textContent`))
      assert.match(line, /^npx roost join 192\.0\.2\.10:7075 \S+$/)
      await page.evaluate(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text }`)
      await page.locator('button[aria-label="Copy: the line for the new machine"]').click()
      await untilShown(page, 'Copied')
      assert.equal(await page.evaluate('globalThis.copied'), line)
      await addNode(api.database, { id: 'cellar' })
      await untilShown(page, 'cellar is live')
      assert.ok(!(await page.content()).includes(line))
      await readRows(api.database, { text: "delete from nodes where id = 'cellar'" })
      await scene.assertFit('hosts/new', 'instances of all users run there')
    })

    it('take an invitation back', async () => {
      await signIn(page, admin.token)
      await scene.open('hosts/new', 'You get a line to run on it')
      await page.locator('input[name="name"]').fill('shed')
      await page.keyboard.press('Enter')
      await untilShown(page, 'Run this on the new machine')
      const again = await admin.api.attempt('inviteHosts', { body: { name: 'shed' } })
      assert.match(JSON.stringify(again.entries), /in an open invitation/)
      await press('Take back')
      await untilShown(page, 'Its line does not work any more.')
      await confirm('Take back')
      await untilShown(page, 'shed was removed.')
      await admin.api.one('inviteHosts', { body: { name: 'shed' } })
    })

    it('offer a token with fewer rights nothing that would be refused', async () => {
      const rights = { scopes: [TokenScope.Read, TokenScope.Operate], services: null }
      const { token } = await createToken(api.database, { userUuid: admin.uuid, rights })
      await signIn(page, token)
      await scene.open('hosts', 'Attic_2')
      assert.doesNotMatch(await shownText(page), /Add a machine/)
      await scene.open('hosts/local', 'local is live')
      assert.doesNotMatch(await shownText(page), /Cordon\n|Remove/)
      await scene.open('hosts/new', 'No such page')
    })
  })

  // These come last, because they add a host that takes instances.
  describe('for everybody', () => {
    it('look to everybody else as if there were none', async () => {
      await signIn(page, user.token)
      for (const at of ['hosts', 'hosts/local', 'hosts/new']) {
        await scene.open(at, 'No such page')
        assert.doesNotMatch(await shownText(page), /Hosts|Attic_2|local/)
      }
    })

    it('say of an instance where it is and why, with a way to the host for administrators alone', async () => {
      await addNode(api.database, { id: 'h2' })
      for (const owner of [user, admin]) {
        const { uuid } = await owner.api.one('createInstances', {
          body: { image: 'hello:latest', name: 'web' },
        })
        const { host, placed } = await owner.api.one('explainInstances', { object: uuid })
        assert.match(placed ?? '', /^it is on host /)
        await signIn(page, owner.token)
        await scene.open(`instances/${uuid}`, `Placement: ${placed}`)
        await untilShown(page, new RegExp(`Host\\s+${host}\\s`))
        const links = await page.evaluate(`[...document.querySelectorAll('.facts a')].map((a) => a.pathname)`)
        assert.deepEqual(links, owner === admin ? [`/console/hosts/${host}`] : [])
        await scene.assertFit(`instances/${uuid}`, 'Placement: ')
        if (owner === user) await page.locator('button[title="Sign out"]').click()
      }
    })
  })
})

import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { readConsoleFiles } from '../../src/api/console/files.ts'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { makePartAuthority } from '../../src/trust/part-authority.ts'
import { startTestApi } from './api-server.ts'
import type { TestApi, TestUser } from './api-server.ts'
import { findings } from './console-axe.ts'
import { startConsoleBrowser, untilShown } from './console-browser.ts'
import type { ConsoleBrowser } from './console-browser.ts'
import { onFailure } from './failure-notes.ts'

/** The pages of the console, served by an API of its own and shown in a browser. */
export interface ConsoleScene {
  readonly api: TestApi
  readonly chromium: ConsoleBrowser
  /** The user of this test. */
  readonly user: TestUser
  /** The page of this test, at the sign-in. */
  readonly page: Page
  /** Goes to a page of the console, and waits until it shows a text. */
  open(at: string, shown: string | RegExp): Promise<void>
  /**
   * Checks a page by axe and for its width: light on a wide screen, and dark on a narrow one. `ROOST_SHOTS`
   * names a directory for pictures.
   */
  assertFit(at: string, shown: string | RegExp): Promise<void>
  /** The same for what the page shows now, and can not be opened again. `at` is only a name. */
  assertPresentFit(at: string): Promise<void>
}

const looks = [
  { scheme: 'light', size: { width: 1280, height: 800 } },
  { scheme: 'dark', size: { width: 390, height: 800 } },
] as const

/** Opens a scene for the tests of a suite. Each test has a user and a page of its own. */
export function consoleScene(settings: NonNullable<Parameters<typeof startTestApi>[0]>['settings'] = {}) {
  const scene = {} as { -readonly [Part in keyof ConsoleScene]: ConsoleScene[Part] }
  before(async () => {
    const consoleFiles = await readConsoleFiles(requireInstalled(readInstalled(), 'consolePages'))
    const authority = settings.hostsAddress && (await makePartAuthority(Date.now()))
    scene.api = await startTestApi({ consoleFiles, settings, ...(authority && { authority }) })
    scene.chromium = await startConsoleBrowser()
  })
  after(async () => {
    await scene.chromium?.close()
    await scene.api?.close()
  })
  beforeEach(async () => {
    scene.user = await scene.api.addUser()
    scene.page = await scene.chromium.open(`${scene.api.url}/console/`)
    // Each test signs in from an address of its own, as far as the limit of attempts is concerned.
    await scene.page.setExtraHTTPHeaders({ 'x-forwarded-for': scene.user.uuid })
  })
  afterEach(async () => {
    await scene.page.browserContext().close()
    assert.deepEqual(scene.chromium.faults, [])
  })
  onFailure(() => scene.chromium?.faults.join('\n') ?? '')
  scene.open = async (at, shown) => {
    await scene.page.goto(`${scene.api.url}/console/${at}`)
    await untilShown(scene.page, shown)
  }
  scene.assertFit = (at, shown) => assertLooks(scene.page, at, () => scene.open(at, shown))
  scene.assertPresentFit = (at) => assertLooks(scene.page, at, async () => undefined)
  return scene as ConsoleScene
}

/** Resolves when colours have changed. Buttons of an open page take a moment from light to dark. */
const changedColours = `Promise.allSettled(document.getAnimations()
  .filter((one) => one instanceof CSSTransition).map(({ finished }) => finished))`

async function assertLooks(page: Page, at: string, open: () => Promise<void>): Promise<void> {
  for (const { scheme, size } of looks) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await page.setViewport(size)
    await open()
    await page.evaluate(changedColours)
    assert.deepEqual(await findings(page), [], `/console/${at} in ${scheme}`)
    const beyond = 'document.documentElement.scrollWidth > innerWidth'
    assert.equal(await page.evaluate(beyond), false, `/console/${at} is wider than ${size.width}`)
    await takePicture(page, at, scheme)
  }
}

async function takePicture(page: Page, at: string, scheme: string): Promise<void> {
  const directory = process.env['ROOST_SHOTS']
  if (directory === undefined) return
  const name = at.replaceAll(/[0-9a-f-]{36}/g, 'one').replaceAll('/', '-')
  await page.screenshot({ path: `${directory}/${name}-${scheme}.png`, fullPage: true })
}

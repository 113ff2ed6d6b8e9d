import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { readConsoleFiles } from '../../src/api/console/files.ts'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
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
    scene.api = await startTestApi({ consoleFiles, settings })
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
  scene.assertFit = async (at, shown) => {
    for (const { scheme, size } of looks) {
      await scene.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await scene.page.setViewport(size)
      await scene.open(at, shown)
      assert.deepEqual(await findings(scene.page), [], `/console/${at} in ${scheme}`)
      const beyond = 'document.documentElement.scrollWidth > innerWidth'
      assert.equal(await scene.page.evaluate(beyond), false, `/console/${at} is wider than ${size.width}`)
      await takePicture(scene.page, at, scheme)
    }
  }
  return scene as ConsoleScene
}

async function takePicture(page: Page, at: string, scheme: string): Promise<void> {
  const directory = process.env['ROOST_SHOTS']
  if (directory === undefined) return
  const name = at.replaceAll(/[0-9a-f-]{36}/g, 'one').replaceAll('/', '-')
  await page.screenshot({ path: `${directory}/${name}-${scheme}.png`, fullPage: true })
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { launch } from 'puppeteer-core'
import type { Browser, Page } from 'puppeteer-core'
import { trust } from './browser.ts'

/** A real Chromium for the console's pages. Whatever goes wrong in a page is kept in `faults`. */
export interface ConsoleBrowser {
  readonly browser: Browser
  /** Errors of scripts, refusals by the content policy, and requests to anywhere but `origin`. */
  readonly faults: readonly string[]
  /** Opens a page with cookies of its own. */
  open(url: string, size?: { readonly width: number; readonly height: number }): Promise<Page>
  close(): Promise<void>
}

const chromium = '/usr/bin/chromium'
const size = { width: 1280, height: 800 }

export async function startConsoleBrowser(
  options: { readonly caFile?: string; readonly names?: string } = {},
): Promise<ConsoleBrowser> {
  const home = mkdtempSync(path.join(tmpdir(), 'roost-console-'))
  if (options.caFile !== undefined) trust(home, options.caFile)
  const browser = await launch({
    executablePath: chromium,
    userDataDir: path.join(home, 'profile'),
    env: { ...process.env, HOME: home },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      ...(options.names === undefined ? [] : [`--host-resolver-rules=MAP ${options.names} 127.0.0.1`]),
    ],
  })
  const faults: string[] = []
  return {
    browser,
    faults,
    async open(url, { width, height } = size) {
      const context = await browser.createBrowserContext()
      const page = await context.newPage()
      const { origin } = new URL(url)
      page.on('pageerror', (error) =>
        faults.push(error instanceof Error ? String(error.stack) : String(error)),
      )
      page.on('console', (message) => {
        const text = message.text()
        if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text)
      })
      page.on('request', (request) => {
        const at = request.url()
        if (!at.startsWith(origin) && !at.startsWith('data:')) faults.push(`it asked ${at}`)
      })
      await page.setViewport({ width, height })
      await page.goto(url, { waitUntil: 'load' })
      return page
    },
    async close() {
      await browser.close()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Signs in with a token and waits for the first page. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.locator('input[name="token"]').fill(token)
  await page.locator('button[type="submit"]').click()
  await page.waitForSelector('.frame h1')
}

/** Waits until the page shows a text to its reader. */
export async function untilShown(page: Page, text: string | RegExp, limitMs = 10_000): Promise<void> {
  const source =
    typeof text === 'string' ? text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`) : text.source
  const test = `new RegExp(${JSON.stringify(source)}).test(document.body.innerText)`
  await page.waitForFunction(test, { timeout: limitMs }).catch(async (cause: unknown) => {
    throw new Error(`'${source}' is not shown; the page shows:\n${await shownText(page)}`, { cause })
  })
}

/** The text that a person reads. */
export async function shownText(page: Page): Promise<string> {
  return String(await page.evaluate('document.body.innerText'))
}

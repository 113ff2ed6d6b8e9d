import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'puppeteer-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds. The content policy of the page permits no script of the test, so axe comes by DevTools. */
export async function findings(page: Page): Promise<readonly string[]> {
  // In the middle of a transition, colours are those of neither side.
  await page.evaluate(`Promise.allSettled(
    document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished))`)
  await page.evaluate(axe)
  const { found, checked } = (await page.evaluate(`axe.run().then(({ violations, passes }) => ({
    checked: passes.length,
    found: violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join('; ')),
  }))`)) as { readonly found: readonly string[]; readonly checked: number }
  assert.ok(checked > 10, `axe checked only ${checked} rules`)
  return found
}

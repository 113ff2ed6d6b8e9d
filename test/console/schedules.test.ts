import { strict as assert } from 'node:assert'
import { beginRun, endRun } from '../../src/db/schedule/runs.ts'
import { signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'

describe('the console shows schedules', () => {
  const scene = consoleScene()
  const click = async (selector: string) => await scene.page.locator(selector).click()

  it('says how to make one if there are none', async () => {
    await signIn(scene.page, scene.user.token)
    await scene.open('schedules', 'No schedules yet')
    await untilShown(scene.page, 'npx roost schedule create')
  })

  it('lists them, pauses, resumes, runs and deletes one, and shows what its last run printed', async () => {
    const { api, user, page } = scene
    const action = { start: { instances: ['web'] } }
    const body = { name: 'nightly', cron: '0 3 * * *', action }
    const { uuid } = await user.api.one('createSchedules', { body })
    const begun = await beginRun(api.database, { scheduleUuid: uuid, runKey: 'a', scheduledAtMs: Date.now() })
    const end = { result: 'failed', reason: 'it ended with exit code 2', logTail: 'disk is full' } as const
    await endRun(api.database, begun!.run, { end, keptRuns: 50 })
    await signIn(page, user.token)
    await scene.open('schedules', /nightly\s+Failed\s+starts web/)
    await scene.assertFit('schedules', '1 in all')
    await scene.open(`schedules/${uuid}`, 'it ended with exit code 2')
    await click('details.run summary')
    await untilShown(page, 'disk is full')
    await scene.assertFit(`schedules/${uuid}`, 'Last runs')
    await click('button::-p-text(Pause)')
    await untilShown(page, 'nightly was paused.')
    await click('button::-p-text(Resume)')
    await untilShown(page, 'nightly was resumed.')
    await click('button::-p-text(Run now)')
    await untilShown(page, 'nightly runs.')
    await click('.actions button::-p-text(Delete)')
    await click('dialog button::-p-text(Delete)')
    await untilShown(page, 'nightly was deleted.')
    await untilShown(page, 'No schedules yet')
  })

  it('makes one by a form that shows its next runs, and the refusals of the API at their fields', async () => {
    const { user, page } = scene
    const fill = async (name: string, value: string) => await page.locator(`[name="${name}"]`).fill(value)
    const submit = async () => await click('button[type="submit"]')
    const focused = async () => await page.evaluate('document.activeElement.name')
    await signIn(page, user.token)
    await scene.open('schedules', 'Create a schedule')
    await scene.open('schedules/new', 'Next runs, by your clock')
    await fill('cron', '61 3 * * *')
    await untilShown(page, 'These times do not say when it runs.')
    await submit()
    await untilShown(page, "'61' is not valid for the field 'minute'")
    assert.equal(await focused(), 'cron')
    await fill('name', 'nightly')
    await fill('cron', '30 4 1 jan *')
    await fill('timeZone', 'Europe/Berlin')
    await fill('overlap', 'queue')
    await fill('image', 'nothing:latest')
    await submit()
    await untilShown(page, "No image 'nothing:latest'")
    assert.equal(await focused(), 'image')
    await scene.assertFit('schedules/new', 'Next runs, by your clock')
    await fill('name', 'nightly')
    await fill('cron', '30 4 1 jan *')
    await fill('timeZone', 'Europe/Berlin')
    await fill('overlap', 'queue')
    await fill('catchUpS', '120')
    await fill('image', 'hello:latest')
    await fill('timeoutS', '90')
    await submit()
    await untilShown(page, 'nightly was created.')
    const made = await user.api.one('getSchedules', { object: 'nightly' })
    assert.partialDeepStrictEqual(made, {
      cron: '30 4 1 jan *',
      time_zone: 'Europe/Berlin',
      overlap: 'queue',
      catch_up_s: 120,
    })
    assert.equal(made.action?.run?.timeout_s, 90)
    await scene.open('schedules/new', 'Next runs, by your clock')
    await fill('action', 'stop')
    await fill('instances', 'web, db')
    await fill('drainS', '5')
    await submit()
    await untilShown(page, /stops web, db/)
  })
})

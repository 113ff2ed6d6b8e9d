import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { portChecks } from '../../../src/launch/doctor/doctor.ts'

const publicPorts = [80, 443]

describe("The doctor's look at ports", () => {
  for (const publicPort of publicPorts) {
    it(`names the public port ${publicPort} where another program has it`, async () => {
      const squatter = createServer().listen(0, '0.0.0.0')
      await once(squatter, 'listening')
      const { port } = squatter.address() as AddressInfo
      const settings = { apiHost: '127.0.0.1', apiPort: 7070, temporalUiPort: 8233 }
      const checks = await portChecks({ ...settings, portOffset: port - publicPort }, false)
      squatter.close()
      const found = checks.find(({ name }) => name === `public port ${publicPort}`)
      assert.equal(found?.status, 'warning')
      assert.match(`${found.detail} ${found.remedy}`, new RegExp(`${port} .*ROOST_PORT_OFFSET`))
    })
  }
})

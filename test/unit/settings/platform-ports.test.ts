import assert from 'node:assert/strict'
import { platformPorts } from '../../../src/settings/platform-ports.ts'
import { readSettings } from '../../../src/settings/settings.ts'

describe('ports of the platform', () => {
  it('are those of every part and service of this machine, and those that machines that joined have', () => {
    const settings = readSettings({
      ROOST_API_PORT: '7001',
      ROOST_API_URL: 'http://127.0.0.1:7002',
      ROOST_TEMPORAL_UI_PORT: '7003',
      ROOST_AGENT_PORT: '7004',
      ROOST_WORKER_METRICS_PORT: '7005',
      ROOST_GATEWAY_METRICS_PORT: '7006',
      ROOST_REGISTRY_OWNER_PORT: '7010',
      ROOST_HOSTS_ADDRESS: 'roost.example.com:7011',
      DATABASE_URL: 'postgresql://roost:secret@127.0.0.1:7007/roost',
      TEMPORAL_ADDRESS: 'localhost:7008',
      ROOST_REGISTRY_URL: 'http://registry.example.com:7009',
    })
    assert.deepEqual(
      [...platformPorts(settings)].toSorted((a, b) => a - b),
      [7001, 7002, 7003, 7004, 7005, 7006, 7007, 7008, 7010, 7011, 7071, 7072, 7073, 7075],
    )
  })
})

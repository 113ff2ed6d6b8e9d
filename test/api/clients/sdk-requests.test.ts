import { strict as assert } from 'node:assert'
import { UnikraftCloud } from '@unikraft/cloud'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestChain } from '../../support/certificate-maker.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { runPythonSdk } from '../../support/python-sdk.ts'

/** What the SDKs in JavaScript and Python send beside what every client sends. */
describe('both newer SDKs', () => {
  let api: TestApi
  let user: TestUser
  let ukc: UnikraftCloud
  let pem: { readonly chain: string; readonly pkey: string }
  before(async () => {
    api = await startTestApi()
    const { leaf, between } = await makeTestChain(['www.example.com'])
    pem = { chain: leaf.pem + between.pem, pkey: leaf.pkey }
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
    ukc = new UnikraftCloud({ baseUrl: api.url, token: user.token })
  })

  const python = async (script: string) => await runPythonSdk(api, user, script)

  it('give an image as an object', async () => {
    const image = { url: 'hello:latest', pull_policy: 'always' as const }
    const made = await ukc.instances.create({ name: 'js', image })
    assert.equal(made.name, 'js')
    assert.partialDeepStrictEqual(await ukc.instances.get({ name: 'js' }), { name: 'js' })
    const changed = await ukc.instances.get({ name: 'js' }).update({ image: { url: 'hello:latest' } })
    assert.equal(changed.status, 'success')
    const read = await python(`
      await ukc.instances.create(name="py", image={"url": "hello:latest", "pull_policy": "if_not_present"})
      return await ukc.instances.get(name="py")
    `)
    assert.match(read.image, /^hello@sha256:/)
  })

  it('change the ports and limits of a service', async () => {
    const services = [{ port: 443, destination_port: 8080 }]
    await ukc.services.create({ name: 'js', services: [{ ...services[0]!, handlers: ['tls', 'http'] }] })
    await ukc.services.get({ name: 'js' }).update({ soft_limit: 5, hard_limit: 20 })
    const edited = await ukc.services
      .get({ name: 'js' })
      .edit()
      .add({ services: [{ port: 8443, destination_port: 8080, handlers: ['tls'] }] })
      .apply()
      .refresh()
    assert.partialDeepStrictEqual(edited, { soft_limit: 5, hard_limit: 20 })
    assert.deepEqual(
      edited.services?.map(({ port }) => port),
      [443, 8443],
    )
    const read = await python(`
      await ukc.services.create(name="py", services=[{"port": 443, "destination_port": 8080}])
      py = ukc.services.get(name="py")
      await py.update(soft_limit=5, hard_limit=20)
      await py.edit().add(services=[{"port": 8443, "destination_port": 8080}]).apply()
      read = await py.refresh()
      await py.delete()
      return read
    `)
    assert.partialDeepStrictEqual(read, { soft_limit: 5, hard_limit: 20 })
    assert.deepEqual(
      read.services.map(({ port }: { port: number }) => port),
      [443, 8443],
    )
  })

  it('attach and detach volumes', async () => {
    await ukc.instances.create({ name: 'js', image: 'hello:latest' })
    const data = ukc.volumes.create({ name: 'js-data', size_mb: 8 })
    await data.attach({ attach_to: { name: 'js' }, at: '/data', readonly: true })
    assert.equal((await ukc.instances.get({ name: 'js' })).volumes?.[0]?.at, '/data')
    await ukc.volumes.get({ name: 'js-data' }).detach({ from: { name: 'js' } })
    assert.equal((await ukc.volumes.delete({ name: 'js-data' }))[0]?.name, 'js-data')
    const found = await python(`
      await ukc.instances.create(name="py", image="hello:latest")
      await ukc.volumes.create(name="py-data", size_mb=8)
      data = ukc.volumes.get(name="py-data")
      await data.attach(to="py", at="/data")
      mounted = (await ukc.instances.get(name="py")).volumes
      await data.detach()
      return [[one.at for one in mounted], (await data.delete()).name]
    `)
    assert.deepEqual(found, [['/data'], 'py-data'])
  })

  it('call the domain of a certificate `common_name`', async () => {
    const made = await ukc.certificates.create({ name: 'js', common_name: 'www.example.com', ...pem })
    assert.equal(made.name, 'js')
    const read = await python(`
      chain, pkey = ${JSON.stringify(pem.chain)}, ${JSON.stringify(pem.pkey)}
      return await ukc.certificates.create(name="py", common_name="www.example.com", chain=chain, pkey=pkey)
    `)
    assert.partialDeepStrictEqual(read, { name: 'py', common_name: 'www.example.com', state: 'valid' })
  })

  it('replace the contents of an uploaded certificate', async () => {
    const next = await makeTestChain(['www.example.com'])
    const renewed = { chain: next.leaf.pem + next.between.pem, pkey: next.leaf.pkey }
    await ukc.certificates.create({ name: 'shop', common_name: 'www.example.com', ...pem })
    const before = await ukc.certificates.get({ name: 'shop' })
    const after = await ukc.certificates.get({ name: 'shop' }).update(renewed)
    assert.equal(after.uuid, before.uuid)
    assert.notEqual(after.serial_number, before.serial_number)
    const again = await python(`
      chain, pkey = ${JSON.stringify(pem.chain)}, ${JSON.stringify(pem.pkey)}
      return await ukc.certificates.get(name="shop").update(chain=chain, pkey=pkey)
    `)
    assert.equal(again.serial_number, before.serial_number)
  })

  it('list images, and read the quotas and the health', async () => {
    const platform = ukc.api.platform
    const images = await platform.images.getImages({ tag: 'hello:latest' })
    assert.partialDeepStrictEqual(images.data?.images?.[0], { args: ['/hello', '--port', '8080'] })
    assert.ok((await ukc.users.quotas())[0]?.hard)
    assert.deepEqual((await platform.node.healthz()).data, { checks: { database: 'healthy' } })
    const found = await python(`
      images = await ukc.images.list()
      quotas = await ukc.users.quotas()
      health = await ukc.api.platform.node.healthz()
      return [images, quotas, health]
    `)
    const [[image], [quotas], health] = found
    assert.deepEqual(image.args, ['/hello', '--port', '8080'])
    assert.match(image.url, /^hello@sha256:/)
    assert.ok(quotas.hard.instances > 0)
    assert.deepEqual(health, { status: 'success', data: { checks: { database: 'healthy' } } })
  })

  it('suspend an instance, alone and among others', async () => {
    for (const name of ['one', 'two', 'three'])
      await ukc.instances.create({ name, image: 'hello:latest', autostart: true }).wait({ state: 'running' })
    const one = await ukc.instances.get({ name: 'one' }).suspend()
    assert.partialDeepStrictEqual(one, { name: 'one', state: 'standby', previous_state: 'running' })
    const [again] = await ukc.instances.suspend([{ name: 'one' }])
    assert.partialDeepStrictEqual(again, { name: 'one', state: 'standby', previous_state: 'standby' })
    const found = await python(`
      two = await ukc.instances.get(name="two").suspend()
      both = await ukc.instances.suspend([{"name": "two"}, {"name": "three"}])
      return [two.state, two.previous_state, [[each.name, each.state] for each in both]]
    `)
    assert.deepEqual(found, [
      'standby',
      'running',
      [
        ['two', 'standby'],
        ['three', 'standby'],
      ],
    ])
    await ukc.instances.get({ name: 'three' }).stop()
    await assert.rejects(
      async () => await ukc.instances.get({ name: 'three' }).suspend(),
      /'three' is stopped: .*start it first/,
    )
  })

  it('read what this platform does not have, by its name', async () => {
    const said = async (call: () => PromiseLike<unknown>) => {
      try {
        await call()
      } catch (error) {
        return (error as Error).message
      }
      return 'no error'
    }
    const web = ukc.instances.get({ name: 'web' })
    await ukc.instances.create({ name: 'web', image: 'hello:latest' })
    const spec = { image: 'hello:latest' }
    const refusals = [
      [/'GET \/v1\/instances\/history' is not supported here: .*\/v1\/events/, () => web.history()],
      [
        /delete_lock' in instance change arguments is not supported here/,
        () => web.update({ delete_lock: true }),
      ],
      [/hostname' in instance change arguments is not supported here/, () => web.update({ hostname: null })],
      [
        /'autokill' in instance creation arguments/,
        () => ukc.instances.create({ ...spec, autokill: { time_ms: 1 } }),
      ],
      [
        /'annotations' in instance creation/,
        () => ukc.instances.create({ ...spec, annotations: { a: 'b' } }),
      ],
      [
        /'image.credentials' in instance creation arguments is not supported here/,
        () => ukc.instances.create({ image: { url: 'hello', credentials: 'a:b' } }),
      ],
      [
        /'PATCH \/v1\/volumes' is not supported here: a volume can not be changed/,
        () => ukc.volumes.update({ name: 'data' }, { size_mb: 16 }),
      ],
    ] as const
    for (const [message, call] of refusals) assert.match(await said(call), message)
    const found = await python(`
      said = []
      web = ukc.instances.get(name="web")
      for call in [
          lambda: web.history(),
          lambda: web.update(delete_lock=True),
          lambda: web.update(autokill=REMOVE),
          lambda: ukc.instances.create(image="hello", roms=[{"name": "files", "image": "x"}]),
          lambda: ukc.instances.create(image="hello", dependencies=[{"name": "db"}]),
          lambda: ukc.templates.list(),
      ]:
          try:
              await call()
              said.append("no error")
          except UnikraftCloudError as error:
              said.append(str(error))
      return said
    `)
    const names = ['GET \\/v1\\/instances\\/history', 'delete_lock', 'autokill']
    for (const [index, name] of [...names, 'roms', 'dependencies', 'templates'].entries())
      assert.match(found[index], new RegExp(`${name}'`))
  })

  it('name the master of autoscale as a template', async () => {
    await ukc.services.create({ name: 'busy', services: [{ port: 443, handlers: ['tls', 'http'] }] })
    await ukc.instances.create({ name: 'busy', image: 'hello:latest', service_group: { name: 'busy' } })
    const { uuid } = await ukc.services.get({ name: 'busy' })
    const { autoscale } = ukc.api.platform
    const body = { min_size: 1, max_size: 2, create_args: { template: { name: 'busy' } } }
    const made = await autoscale.createAutoscaleConfigurations({ body: [{ name: 'busy', ...body }] })
    assert.equal(made.status, 'success')
    const read = await python(`
      return await ukc.api.platform.autoscale.get_autoscale_configurations(uuid=["${uuid}"])
    `)
    assert.partialDeepStrictEqual(read.data.service_groups[0], { name: 'busy', min_size: 1, max_size: 2 })
  })
})

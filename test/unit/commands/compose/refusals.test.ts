import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import {
  readDeployKeys,
  readServiceKeys,
  readTopKeys,
  refusedDeployKeys,
  refusedServiceKeys,
  refusedTopKeys,
} from '../../../../src/commands/compose/service-keys.ts'
import { roostLabels } from '../../../../src/commands/compose/service-labels.ts'
import { nameOfDirectory } from '../../../../src/commands/compose/project-files.ts'
import { imageNames } from '../../../../src/commands/compose/image-names.ts'
import { noFile, projectOf, refusalsOf } from '../../../support/compose-projects.ts'

/** A project with one service, `web`, whose lines begin at the fourth. */
const serviceOf = (lines: string): string =>
  `services:\n  web:\n    image: hello\n${lines
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n`

describe('what a Compose file says and can not be done', () => {
  for (const key of Object.keys(refusedServiceKeys)) {
    it(`the key ${key} of a service is refused by its line`, async () => {
      const [first, ...more] = refusalsOf(await projectOf(serviceOf(`${key}: [a]`)))
      assert.equal(more.length, 0)
      assert.ok(first?.startsWith(`4: '${key}' of a service can not be done: `), first)
    })
  }
  for (const key of Object.keys(refusedTopKeys)) {
    it(`the key ${key} of the file is refused by its line`, async () => {
      const refusals = refusalsOf(await projectOf(`${serviceOf('init: true')}${key}: {}\n`))
      assert.equal(refusals.length, 1)
      assert.ok(refusals[0]?.startsWith(`5: '${key}' of the file can not be done: `), refusals[0])
    })
  }
  for (const key of Object.keys(refusedDeployKeys)) {
    it(`the key ${key} of deploy is refused by its line`, async () => {
      const refusals = refusalsOf(await projectOf(serviceOf(`deploy:\n  ${key}: {}`)))
      assert.ok(refusals[0]?.startsWith(`5: '${key}' of 'deploy' can not be done: `), refusals[0])
    })
  }

  /** The lines of a service, and what is refused of them. */
  const cases: readonly (readonly [string, string])[] = [
    ['colour: blue', "4: 'colour' of a service is not known"],
    ['ports: ["80"]', "4: the port '80' can not be published: the public port has to be named"],
    ['ports: [":80"]', "4: the port ':80' can not be published: the public port has to be named"],
    [
      'ports: ["127.0.0.1:80:80"]',
      "4: the port '127.0.0.1:80:80' can not be published: what is published is public",
    ],
    ['ports: ["[::1]:80:80"]', "4: the port '[::1]:80:80' can not be published: what is published is public"],
    ['ports:\n  - "53:53/udp"', "5: the port '53:53/udp' can not be published: only TCP"],
    [
      'ports: ["8000-8010:8000-8010"]',
      "4: the port '8000-8010:8000-8010' can not be published: write each port",
    ],
    ['ports: ["70000:80"]', '4: a port is not a whole number from 1 to 65535'],
    ['ports:\n  - "80:80"\n  - "80:81"', '6: the port 80 is published twice'],
    ['ports:\n  - target: 80', "5: a port needs 'target' and 'published'"],
    ['ports:\n  - target: 80\n    published: 80\n    host_ip: 10.0.0.1', "7: 'host_ip' can not be done"],
    [
      'ports:\n  - target: 80\n    published: 80\n    app_protocol: http',
      "7: 'app_protocol' of 'ports' can not be done",
    ],
    [
      'volumes: [./here:/data]',
      "4: the volume './here:/data' can not be attached: a directory of this machine",
    ],
    ['volumes: [/data]', "4: the volume '/data' can not be attached: a volume without a name"],
    ['volumes: [data:/data]', "4: the volume 'data:/data' is not among the 'volumes' of the file"],
    ['volumes:\n  - type: bind\n    source: .\n    target: /data', "5: type 'bind' can not be done"],
    ['volumes:\n  - type: tmpfs\n    target: /data', "5: type 'tmpfs' can not be done"],
    ['depends_on: [db]', "4: there is no service 'db'"],
    ['depends_on: [web]', '3: services depend on each other in a circle: web'],
    [
      'depends_on:\n  web: { condition: service_gone }',
      "5: condition is 'service_gone': expected service_started",
    ],
    ['restart: on-failure:5', "4: restart is 'on-failure:5': restarts are not counted"],
    ['restart: sometimes', "4: restart is 'sometimes': expected no, always"],
    ['mem_limit: much', "4: the memory is 'much': expected a size, such as 512m"],
    ['cpus: 1.5', "4: cpus is '1.5', but a VM has whole processors: give a whole number, such as 2"],
    ['scale: 101', "4: scale is '101': expected a whole number from 0 to 100"],
    ['deploy: { mode: global }', "4: mode is 'global': expected replicated"],
    [
      'deploy:\n  restart_policy: { max_attempts: 3 }',
      "5: 'max_attempts' of 'restart_policy' can not be done",
    ],
    ['tty: true', "4: 'tty: true' can not be done: an application has no terminal"],
    ['stdin_open: true', "4: 'stdin_open: true' can not be done"],
    ['init: false', "4: 'init: false' can not be done"],
    ['privileged: true', "4: 'privileged: true' can not be done"],
    ['platform: linux/arm64', "4: platform is 'linux/arm64': expected linux/amd64"],
    ['pull_policy: build', "4: pull_policy is 'build': expected always"],
    ['healthcheck: { interval: 5s }', "4: 'test' is missing: the image's own check is not known"],
    ['healthcheck: { test: [ls] }', "4: 'test' has to begin with CMD"],
    ['healthcheck: { test: ls, interval: soon }', "4: interval is 'soon': expected a time of at most 24h"],
    ['labels: { roost.colour: blue }', "4: the label 'roost.colour' is not known; there are roost.domains"],
    ['labels: [traefik.enable=true]', "4: the label 'traefik.enable' can not be done"],
    ['labels: { roost.domains: web }', "3: 'web' has 'roost.domains', but no 'ports'"],
    [
      'labels: { roost.scale-to-zero: often }',
      "4: 'roost.scale-to-zero' has an unknown value: expected off, on",
    ],
    [
      'labels: { roost.scale-to-zero.cooldown: 5 }',
      "4: 'roost.scale-to-zero.cooldown' needs 'roost.scale-to-zero'",
    ],
    [
      'labels: { roost.autoscale.min: 1 }',
      "4: autoscale needs 'roost.autoscale.max' and 'roost.autoscale.target'",
    ],
    [
      'labels: { roost.autoscale.max: 3, roost.autoscale.target: 9 }',
      "3: 'web' has autoscale, but no 'ports'",
    ],
    ...[
      '',
      'x',
      '50',
      '50,10,100',
      '0,100',
      '5;100',
      Array.from({ length: 17 }, (_, at) => 84 + at).join(),
    ].map(
      (steps) =>
        [
          `labels: { roost.rollout.canary: "${steps}" }`,
          `4: 'roost.rollout.canary' is '${steps.slice(0, 60)}': expected at most 16 percents that grow and end with 100`,
        ] as const,
    ),
    ...['', '30', '1500ms', '25h'].map(
      (time) =>
        [
          `labels: { roost.rollout.bake: "${time}" }`,
          `4: 'roost.rollout.bake' is '${time}': expected whole seconds of at most 24h`,
        ] as const,
    ),
    ...['', 'health', '/a b'].map(
      (path) =>
        [
          `labels: { roost.rollout.check-path: "${path}" }`,
          `4: 'roost.rollout.check-path' is '${path}': expected a path of at most 256 visible characters`,
        ] as const,
    ),
    ['labels: { roost.rollout.bake: 30s }', "3: 'web' has labels about rollouts, but no 'ports'"],
    ['env_file: nowhere.env', "4: the file 'nowhere.env' does not exist"],
    ['env_file:\n  - path: nowhere.env\n    format: raw', "6: 'format' of 'env_file' can not be done"],
    ['networks:\n  default: { aliases: [www] }', "5: 'aliases' of a service's network can not be done"],
    ['command: ${NONE:?say one}', '4: the variable NONE is needed: say one'],
    ['environment: { "A=B": 1 }', "4: 'A=B' is no name of a variable"],
  ]
  for (const [lines, refusal] of cases) {
    it(`${lines.replaceAll('\n', ' / ')} is refused by its line`, async () => {
      const refusals = refusalsOf(await projectOf(serviceOf(lines)))
      assert.ok(
        refusals.some((one) => one.startsWith(refusal)),
        refusals.join('\n'),
      )
    })
  }

  it('several steps of a rollout are refused with a volume, which one version has at a time', async () => {
    const text =
      'services:\n  web:\n    image: hello\n    ports: ["80:80"]\n    labels: { roost.rollout.canary: "50,100" }\n' +
      '    volumes: [data:/data]\nvolumes: { data: }\n'
    const refusals = refusalsOf(await projectOf(text))
    assert.equal(refusals.length, 1)
    assert.match(
      refusals[0] ?? '',
      /^6: 'web' has a volume and 'roost\.rollout\.canary' with several steps: /,
    )
    assert.deepEqual(refusalsOf(await projectOf(text.replace('50,100', '100'))), [])
  })

  it('everything is refused at once, in the order of the lines', async () => {
    const refusals = refusalsOf(await projectOf(serviceOf('tty: true\nuser: root\nports: ["80"]')))
    assert.deepEqual(
      refusals.map((text) => text.slice(0, 2)),
      ['4:', '5:', '6:'],
    )
  })

  const secret = 'a secret of nobody'
  it('no message shows what a variable holds', async () => {
    const lines =
      'ports: ["$SECRET"]\nrestart: $SECRET\nmem_limit: $SECRET\nvolumes: ["$SECRET:/data"]\ncpus: $SECRET'
    const read = await projectOf(serviceOf(lines), { variables: { SECRET: secret } })
    assert.equal(refusalsOf(read).length, 5)
    assert.ok(!refusalsOf(read).join('\n').includes(secret), refusalsOf(read).join('\n'))
  })

  it('a file that is no sound YAML is refused by its line', async () => {
    const first = async (text: string) => refusalsOf(await projectOf(text))[0]
    assert.match((await first('services:\n  web: {\n')) ?? '', /^[23]: /)
    assert.match((await first('services:\n  web: {}\n  web: {}\n')) ?? '', /^3: Map keys must be unique/)
    assert.match((await first('services: *web\n')) ?? '', /^1: .*web/)
    assert.match((await first('services:\n  web: !reset null\n')) ?? '', /^2: Unresolved tag/)
    assert.match((await first('- web\n')) ?? '', /^1: the file has to be a mapping/)
    assert.match((await first('')) ?? '', /^1: the file has to be a mapping/)
    assert.match((await first('name: shop\n')) ?? '', /^1: the file has no 'services'/)
  })

  it('aliases that make billions of values are refused', async () => {
    const lines = ['x-0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]']
    for (let at = 1; at < 12; at++)
      lines.push(
        `x-${at}: &a${at} [${Array(9)
          .fill(`*a${at - 1}`)
          .join(', ')}]`,
      )
    const refusals = refusalsOf(await projectOf(lines.join('\n')))
    assert.match(refusals[0] ?? '', /more than 20000 values/)
  })

  it('names that objects of the platform can not have are refused', async () => {
    const named = (name: string) => projectOf(`services:\n  ${name}:\n    image: hello\n`)
    assert.match(refusalsOf(await named('my_web'))[0] ?? '', /^3: 'my_web' is no name of a service/)
    assert.match(refusalsOf(await named('web.one'))[0] ?? '', /^3: 'web\.one' is no name of a service/)
    const project = await projectOf('name: my_shop\nservices: { web: { image: hello } }\n')
    assert.match(refusalsOf(project)[0] ?? '', /^1: 'my_shop' is no name of a project/)
  })
})

describe('what a Compose file says and is taken', () => {
  const taken = async (lines: string, variables = {}) => {
    const read = await projectOf(serviceOf(lines), { variables, readFile: noFile })
    assert.ok(read.ok, refusalsOf(read).join('\n'))
    return read.project.services[0]!
  }

  it('commands are lists, or lines that are split as by a shell', async () => {
    assert.deepEqual((await taken('command: serve --name "my shop"')).args, ['serve', '--name', 'my shop'])
    assert.deepEqual((await taken('command: [serve, "$WHO", 5]', { WHO: 'a b' })).args, ['serve', 'a b', '5'])
    assert.equal((await taken('command: []')).args, undefined)
  })

  it('variables are a mapping or a list, and keep the text of their values', async () => {
    const map = await taken('environment: { A: 0755, B: 1.50, C: yes, D: "", HERE: }', { HERE: 'x' })
    assert.deepEqual(map.env, { A: '0755', B: '1.50', C: 'yes', D: '', HERE: 'x' })
    assert.deepEqual((await taken('environment: [A=b=c, HERE, NONE]', { HERE: 'x' })).env, {
      A: 'b=c',
      HERE: 'x',
    })
  })

  it('merged keys give way to those of the service itself', async () => {
    const text =
      'x-a: &a { restart: always, mem_limit: 1g }\nservices: { web: { <<: *a, image: hello, mem_limit: 64m } }\n'
    const read = await projectOf(text)
    assert.ok(read.ok)
    const [web] = read.project.services
    assert.deepEqual([web?.restart, web?.memoryMb?.value], ['always', 64])
  })

  it('a health check has the defaults of Compose', async () => {
    const { health } = await taken('healthcheck: { test: [CMD, ls], start_period: 1m30s }')
    assert.deepEqual(health, {
      argv: ['ls'],
      intervalMs: 30_000,
      timeoutMs: 30_000,
      retries: 3,
      startPeriodMs: 90_000,
      startIntervalMs: 5_000,
    })
    assert.equal((await taken('healthcheck: { test: [NONE] }')).health, undefined)
    assert.equal((await taken('healthcheck: { disable: true }')).health, undefined)
  })

  it('a directory gives a project its name', () => {
    const names = ['/srv/My_Shop', '/srv/2024-blog!', '/'].map(nameOfDirectory)
    assert.deepEqual(names, ['my-shop', 'blog', 'project'])
  })

  it('an image is looked for below the name of its user, and as it is written', () => {
    assert.deepEqual(imageNames('postgres', 'ann'), ['ann/postgres:latest', 'postgres:latest'])
    assert.deepEqual(imageNames('docker.io/library/postgres:16', 'ann'), ['ann/postgres:16', 'postgres:16'])
    assert.deepEqual(imageNames('localhost:5000/a/b:1', 'ann'), ['ann/a/b:1', 'a/b:1'])
    assert.deepEqual(imageNames('no image', 'ann'), [])
  })
})

describe('docs/compose.md', () => {
  it('has every key that is taken or refused, and every label', async () => {
    const text = await readFile('docs/compose.md', 'utf8')
    const keys = [
      ...readServiceKeys,
      ...Object.keys(refusedServiceKeys),
      ...readTopKeys,
      ...Object.keys(refusedTopKeys),
      ...Object.keys(refusedDeployKeys),
      ...roostLabels,
      ...readDeployKeys.filter((key) => key !== 'resources'),
    ]
    assert.deepEqual(
      keys.filter((key) => !text.includes(`\`${key}\``) && !text.includes(`\`${key}: `)),
      [],
    )
  })
})

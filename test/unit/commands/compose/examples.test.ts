import assert from 'node:assert/strict'
import { planText } from '../../../../src/commands/compose/plan-text.ts'
import { planOf } from '../../../../src/commands/compose/plan.ts'
import { desiredOfTests, exampleProject, refusalsOf } from '../../../support/compose-projects.ts'
import { applied, nothing } from './applied.ts'

const keeping = { removesOrphans: false }
const variables = { DB_PASSWORD: 'secret', MYSQL_ROOT_PASSWORD: 'secret', ENCRYPTION_KEY: 'secret' }

/** The lines of the plan for an empty account. */
const plans: Readonly<Record<string, readonly string[]>> = {
  wordpress: [
    '+ volume pages.blog, 1024 MiB',
    '+ volume tables.blog, 2048 MiB',
    '+ instance mariadb.blog: mariadb@sha256:abababababab, 512 MiB, 1 processor, tables.blog at /var/lib/mysql',
    '+ service wordpress.blog: 80:80, 443:80; blog.metro.test, blog.example.com',
    '… until mariadb is healthy',
    '+ instance wordpress.blog: wordpress@sha256:abababababab, 128 MiB, 1 processor, pages.blog at /var/www/html',
  ],
  ghost: [
    '+ volume content.magazine, 1024 MiB',
    '+ volume tables.magazine, 1024 MiB',
    '+ instance db.magazine: mysql@sha256:abababababab, 1024 MiB, 2 processors, tables.magazine at /var/lib/mysql',
    '+ service ghost.magazine: 443:2368; magazine.example.com',
    '… until db is healthy',
    '+ instance ghost.magazine: ghost@sha256:abababababab, 128 MiB, 1 processor, content.magazine at /var/lib/ghost/content',
  ],
  n8n: [
    '+ volume storage.flows, 1024 MiB',
    '+ volume data.flows, 1024 MiB',
    '+ instance redis.flows: redis@sha256:abababababab, 128 MiB, 1 processor',
    '+ instance postgres.flows: postgres@sha256:abababababab, 128 MiB, 1 processor, data.flows at /var/lib/postgresql/data',
    '+ service n8n.flows: 443:5678',
    '… until redis is healthy',
    '… until postgres is healthy',
    '+ instance n8n.flows: n8nio/n8n@sha256:abababababab, 128 MiB, 1 processor, storage.flows at /home/node/.n8n',
    '+ instance worker.flows: n8nio/n8n@sha256:abababababab, 128 MiB, 1 processor',
    '+ instance worker-2.worker.flows: n8nio/n8n@sha256:abababababab, 128 MiB, 1 processor',
  ],
  rabbitmq: [
    '+ volume queues.work, 1024 MiB',
    '+ instance rabbitmq.work: rabbitmq@sha256:abababababab, 128 MiB, 1 processor, queues.work at /var/lib/rabbitmq',
    '… until rabbitmq is healthy',
    '+ instance setup.work: acme/front@sha256:abababababab, 128 MiB, 1 processor',
    '+ service front.work: 80:8080, 443:8080',
    '… until rabbitmq is healthy',
    '… until setup has completed',
    '+ instance front.work: acme/front@sha256:abababababab, 128 MiB, 1 processor',
    '~ service front.work: 1 to 4 instances by in_flight',
    '+ instance worker.work: acme/worker@sha256:abababababab, 128 MiB, 1 processor',
    '+ instance worker-2.worker.work: acme/worker@sha256:abababababab, 128 MiB, 1 processor',
    '+ instance worker-3.worker.work: acme/worker@sha256:abababababab, 128 MiB, 1 processor',
  ],
}

/** The lines that are refused, and what each refusal says. */
const refusals: Readonly<Record<string, Readonly<Record<number, RegExp>>>> = {
  django: {
    3: /^'build' can not be done: build the image, put it into the registry with `roost push`/,
    8: /^the volume '\.:\/code' can not be attached: a directory of this machine/,
    16: /^the port '127\.0\.0\.1:8000:8000' can not be published: what is published is public/,
    23: /^'shm_size' of a service can not be done/,
    27: /^the volume '\/data' can not be attached: a volume without a name would be lost/,
  },
  gitea: {
    8: /^'container_name' of a service can not be done: an instance is named '<service>\.<project>'/,
    17: /^the volume '\/etc\/timezone:\/etc\/timezone:ro' can not be attached/,
    18: /^the volume '\/etc\/localtime:\/etc\/localtime:ro' can not be attached/,
  },
  nextcloud: {
    17: /^'entrypoint' of a service can not be done: the image's entrypoint is always run/,
    18: /^'cron' can not have the volume of 'app': a volume can be attached to one instance/,
  },
  grafana: {
    5: /^'user' of a service can not be done/,
    9: /^'configs' of a service can not be done: put the file into the image, or on a volume/,
    14: /^'logging' of a service can not be done/,
    20: /^the volume '\.\/dashboards.*' can not be attached/,
    24: /^cpus is '0\.5', but a VM has whole processors: give a whole number, such as 1/,
    25: /^'reservations' of 'resources' can not be done/,
    26: /^'configs' of the file can not be done/,
  },
  plausible: {
    10: /^'ulimits' of a service can not be done/,
    24: /^the volume '\.\/clickhouse\/logs\.xml.*' can not be attached/,
  },
  mastodon: {
    5: /^the file '\.env\.production' does not exist/,
    6: /^'sidekiq' can not have the volume of 'web'/,
    11: /^'shm_size' of a service can not be done/,
    22: /^the port '4000:4000\/udp' can not be published: only TCP/,
    36: /^'internal' can not be done/,
  },
}

describe('Compose files in the manner of known projects', () => {
  for (const [name, lines] of Object.entries(plans)) {
    it(`${name} has a plan, and none any more once it is carried out`, async () => {
      const read = await exampleProject(name, { variables })
      assert.ok(read.ok, refusalsOf(read).join('\n'))
      const desired = desiredOfTests(read.project)
      const plan = planOf(desired, nothing, keeping)
      const text = planText(plan)
      assert.deepEqual(
        text.split('\n').map((line) => line.trim()),
        lines,
      )
      assert.ok(!text.includes('secret'))
      assert.equal(planText(planOf(desired, applied(nothing, plan.steps), keeping)), '')
    })
  }
  for (const [name, lines] of Object.entries(refusals)) {
    it(`${name} is refused at each line that can not be done, and at no other`, async () => {
      const read = await exampleProject(name, { variables })
      assert.ok(!read.ok)
      assert.deepEqual(
        read.refusals.map(({ line }) => line),
        Object.keys(lines).map(Number),
        refusalsOf(read).join('\n'),
      )
      for (const { line, text, file } of read.refusals) {
        assert.match(text, lines[line] ?? /never/)
        assert.equal(file, `${name}.yaml`)
      }
    })
  }

  it('a service of a profile counts only if the profile is switched on', async () => {
    const read = await exampleProject('mastodon', { variables, profiles: ['hidden'] })
    const texts = refusalsOf(read)
    assert.ok(
      texts.some((text) => text.startsWith("32: 'cap_add'")),
      texts.join('\n'),
    )
    assert.ok(
      texts.some((text) => text.includes("'tor' and 'db' have no network in common")),
      texts.join('\n'),
    )
  })
})

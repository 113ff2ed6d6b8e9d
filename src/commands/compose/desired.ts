import { succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { readImageLabels } from '../../domain/image/labels.ts'
import { resolveInstanceDefaults } from '../../domain/instance/defaults.ts'
import { defaultCooldownMs } from '../../domain/standby/scale-to-zero.ts'
import { userNameIn } from '../account/user-name.ts'
import { installationOf } from '../installation.ts'
import type { Session } from '../session.ts'
import { Findings } from './findings.ts'
import type { Finding } from './findings.ts'
import { imageNames, imagePath } from './image-names.ts'
import { inOrder } from './project-checks.ts'
import { projectTag } from './project.ts'
import type { Project, ProjectService } from './project.ts'
import type { Desired, DesiredService } from './states.ts'

type FoundImage = Pick<Entry<'ListImagesAnswer'>, 'digest' | 'args' | 'labels'>
type Limits = Entry<'GetQuotasAnswer'>['limits']

/**
 * Finds the images of a project, and fills in all defaults. What is not there, or not allowed, is refused.
 */
export async function desiredOf(
  session: Session,
  project: Project,
): Promise<{ readonly desired: Desired; readonly refusals: readonly Finding[] }> {
  const { client, access, deps } = session
  const findings = new Findings()
  const { metro_domain: metroDomain } = await installationOf(client)
  const [quotas] = succeeded(await client.GET('/v1/users/quotas', { signal: deps.signal }))
  const user = userNameIn(access.token)
  const images = new Map<string, FoundImage | undefined>()
  for (const { image } of project.services) {
    if (!images.has(image.text)) images.set(image.text, await findImage(session, image.text, user))
  }
  const desired = filledIn(project, { images, metroDomain })
  for (const service of project.services) {
    if (images.get(service.image.text) === undefined) {
      findings.refuse(service.image, missingText(service.image.text, user))
    }
    const made = desired.services.find(({ key }) => key === service.key)
    if (made !== undefined && quotas !== undefined)
      checkLimits(findings, service, { made, limits: quotas.limits })
  }
  if (quotas !== undefined) checkVolumes(findings, project, quotas.limits)
  return { desired, refusals: findings.refusals }
}

/** A project with the images that were found, and with all defaults. */
export function filledIn(
  project: Project,
  {
    images,
    metroDomain,
  }: { readonly images: ReadonlyMap<string, FoundImage | undefined>; readonly metroDomain: string },
): Desired {
  const services = inOrder(project.services).map((service) =>
    desiredService(service, { image: images.get(service.image.text), project: project.name, metroDomain }),
  )
  return { project: project.name, services, volumes: project.volumes }
}

async function findImage(
  { client, deps }: Session,
  text: string,
  user: string,
): Promise<FoundImage | undefined> {
  for (const name of imageNames(text, user)) {
    const query = name.includes('@') ? { digest: name } : { tag: name }
    const found = succeeded(await client.GET('/v1/images/list', { params: { query }, signal: deps.signal }))
    const image = found.find(({ digest, tags }) => digest === name || tags.includes(name))
    if (image !== undefined) return image
  }
  return undefined
}

function missingText(text: string, user: string): string {
  const path = imagePath(text)
  if (path === undefined) return `'${text.slice(0, 60)}' is no name of an image`
  const archive = `${path.name.split('/').at(-1) ?? 'image'}.tar`
  return (
    `the image ${path.name}${path.suffix} is not in the registry of the platform, which takes none from elsewhere: ` +
    `\`docker save ${text} -o ${archive} && roost push ${archive} ${user}/${path.name}${path.suffix}\``
  )
}

function desiredService(
  service: ProjectService,
  {
    image,
    project,
    metroDomain,
  }: { readonly image: FoundImage | undefined; readonly project: string; readonly metroDomain: string },
): DesiredService {
  const { key, replicas, mount, ports, domains, autoscale, dependsOn, health, file, line, sleep, args } =
    service
  const { memoryMb, vcpus, rollout } = service
  const wishes = {
    ...(memoryMb && { memoryMb: memoryMb.value }),
    ...(vcpus && { vcpus: vcpus.value }),
  }
  const resolved = resolveInstanceDefaults(wishes, readImageLabels(image?.labels ?? {}).defaults)
  // The API takes the image's own line as no arguments, and shows none.
  const isOwn = args?.length === 1 && (args[0] === image?.args || args[0] === '')
  return {
    key,
    file,
    line,
    replicas,
    ports,
    rollout,
    dependsOn,
    ...(mount && { mount }),
    ...(domains && { domains: domains.map((name) => fullName(name, metroDomain)) }),
    ...(autoscale && { autoscale }),
    ...(health && { health }),
    configuration: {
      image: image?.digest ?? '',
      ...(args && args.length > 0 && !isOwn && { args }),
      env: service.env,
      memoryMb: resolved.memoryMb,
      vcpus: resolved.vcpus,
      restart: service.restart,
      sleep: { ...sleep, cooldownMs: sleep.cooldownMs ?? defaultCooldownMs },
      tags: [projectTag(project), ...service.tags],
    },
  }
}

function fullName(name: string, metroDomain: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : `${name}.${metroDomain}`
}

function checkLimits(
  findings: Findings,
  service: ProjectService,
  { made, limits }: { readonly made: DesiredService; readonly limits: Limits },
): void {
  const { memoryMb, vcpus } = made.configuration
  const { min_memory_mb: least, max_memory_mb: most, min_vcpus: fewest, max_vcpus: highest } = limits
  if (memoryMb < least || memoryMb > most) {
    const text = `the memory of '${service.key}' is ${memoryMb} MiB: your account allows ${least} to ${most} MiB`
    findings.refuse(service.memoryMb ?? service, text)
  }
  if (vcpus < fewest || vcpus > highest) {
    const text = `'${service.key}' has ${vcpus} processors: your account allows ${fewest} to ${highest}`
    findings.refuse(service.vcpus ?? service, text)
  }
}

function checkVolumes(findings: Findings, { volumes }: Project, limits: Limits): void {
  const { min_volume_mb: least, max_volume_mb: most } = limits
  for (const volume of volumes) {
    const { sizeMb, isExternal, name } = volume
    if (isExternal || (sizeMb >= least && sizeMb <= most)) continue
    const text = `the volume ${name} has ${sizeMb} MiB: your account allows ${least} to ${most} MiB; 'driver_opts' has 'size'`
    findings.refuse(volume, text)
  }
}

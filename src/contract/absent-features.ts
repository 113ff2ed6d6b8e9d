/**
 * What newer clients can send and this platform does not have, by the name of the parameter, with a sentence
 * for the user. A name is looked up only where it is unknown: a parameter that an operation has is never
 * refused by this table.
 */
const absentParameters: Readonly<Record<string, string>> = {
  access_mode: 'a volume can be attached to one instance',
  annotations: "instances have no annotations; 'tags' are words by which you find them",
  autokill:
    "nothing is stopped or deleted after a time; the feature 'delete-on-stop' deletes an instance that stops",
  branch_from: 'an instance is made from an image; there are no branches of running ones',
  checkpoint: 'an instance is made from an image; there are no checkpoints',
  credentials: 'images come from the registry of this platform, with the rights of the token',
  delete_lock: 'there is no lock against deletion; a token without the scope operate can delete nothing',
  dependencies: 'instances start without regard to each other; an application has to wait for what it needs',
  dump: 'a stop writes no dump',
  filesystem: 'volumes have the file system ext4',
  gateway: 'the network of an instance is set by its host',
  gid: 'files on a new volume belong to root; the application can change that',
  gpus: 'hosts have no GPUs for instances',
  headers: 'images come from the registry of this platform, and need none',
  host_path: 'a directory of a host can not be a volume',
  hostname: "an instance is reached by its name as '<name>.internal'",
  ifstate: 'a stop has no condition; stopping what is stopped does nothing',
  nameserver: 'the names that an instance sees are resolved by its host',
  network_interfaces: 'an instance has one network interface, which is made for it',
  plugins: 'there are no plugins',
  quick: "a stop is clean, or at once with 'force'",
  quota_policy: 'a volume always has its whole size',
  roms: 'there are no ROMs; put files into the image, or on a volume',
  sched_priority: 'all instances have the same priority',
  schedules: 'an instance has no schedules',
  tags: 'only instances have tags',
  template: 'there are no templates; an instance is made from an image, a volume is empty at first',
  type: 'there is one type of instance',
  uid: 'files on a new volume belong to root; the application can change that',
}

/** Why this platform does not have a parameter; undefined if clients do not send it either. */
export function whyAbsent(parameter: string): string | undefined {
  return Object.hasOwn(absentParameters, parameter) ? absentParameters[parameter] : undefined
}

interface AbsentEndpoint {
  readonly methods: readonly string[]
  /** The paths, by the form of their text. */
  readonly path: RegExp
  readonly reason: string
}

const withoutCheckpoints = 'there are no checkpoints; GET /v1/events tells what happened to an instance'
const withoutTemplates = 'there are no templates'
const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Endpoints that newer clients call and this platform does not have. */
const absentEndpoints: readonly AbsentEndpoint[] = [
  { methods: ['GET'], path: /^\/v1\/instances\/(?:.+\/)?history$/, reason: withoutCheckpoints },
  { methods: all, path: /^\/v1\/instances\/checkpoints(?:\/.+)?$/, reason: withoutCheckpoints },
  { methods: all, path: /^\/v1\/(?:instances|volumes)\/templates(?:\/.+)?$/, reason: withoutTemplates },
  {
    methods: ['POST', 'PUT'],
    path: /^\/v1\/volumes\/(?:[^/]+\/)?clone$/,
    reason: 'volumes can not be cloned',
  },
  {
    methods: ['PATCH'],
    path: /^\/v1\/volumes(?:\/[\da-f-]{36})?$/,
    reason: 'a volume can not be changed; create another one, and copy what is on it',
  },
  {
    methods: ['POST', 'DELETE'],
    path: /^\/v1\/images$/,
    reason: 'images are not pinned; they are in the registry until they are deleted there',
  },
  { methods: ['GET'], path: /^\/v1\/image-store$/, reason: 'GET /v1/images lists the images that there are' },
  { methods: ['GET'], path: /^\/v1\/audit$/, reason: 'GET /v1/events tells what happened' },
]

/** Why this platform does not have an endpoint; undefined if clients do not call it either. */
export function whyNoEndpoint(method: string, path: string): string | undefined {
  return absentEndpoints.find((each) => each.methods.includes(method) && each.path.test(path))?.reason
}

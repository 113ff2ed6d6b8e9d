/**
 * The kinds of events that users see. The word before the dot is the type of the object, the one behind it
 * says what happened.
 */
export const UserEventKind = {
  InstanceCreated: 'instance.created',
  /** A start was asked for. The state follows as an event of its own, if it changes. */
  InstanceStart: 'instance.start',
  InstanceStop: 'instance.stop',
  /** Standby was asked for. */
  InstanceSuspend: 'instance.suspend',
  /** A move to another host was asked for. */
  InstanceMove: 'instance.move',
  /** It is on another host now. */
  InstanceMoved: 'instance.moved',
  InstanceMoveFailed: 'instance.move-failed',
  InstanceState: 'instance.state',
  /** A start, a wake or a suspend failed, and the state stayed as it was. */
  InstanceFailure: 'instance.failure',
  InstanceVolume: 'instance.volume',
  /** Its configuration was changed, or a restart for an earlier change was asked for. */
  InstanceChanged: 'instance.changed',
  /** A user runs a program in it. The event names the program, and never its arguments. */
  InstanceExec: 'instance.exec',
  /** A user copies files from it or to it. The event has the path, and not what was copied. */
  InstanceCopied: 'instance.copied',
  /** A user connects to one of its ports, past the services. */
  InstanceConnected: 'instance.connected',
  /** Autoscale gives the instance back. */
  InstanceRetired: 'instance.retired',
  InstanceDeleted: 'instance.deleted',
  /** Nothing of a deleted instance is left on its host. */
  InstanceRemoved: 'instance.removed',
  ServiceCreated: 'service.created',
  ServiceChanged: 'service.changed',
  /** A new version of its instances comes in, or goes back. */
  ServiceRollout: 'service.rollout',
  ServiceDeleted: 'service.deleted',
  CertificateCreated: 'certificate.created',
  /** An attempt to get or to renew it begins. */
  CertificateAttempt: 'certificate.attempt',
  CertificateState: 'certificate.state',
  /** An attempt failed or was put off, and the state stayed as it was. */
  CertificateFailure: 'certificate.failure',
  CertificateInstalled: 'certificate.installed',
  CertificateDeleted: 'certificate.deleted',
  VolumeCreated: 'volume.created',
  VolumeState: 'volume.state',
  VolumeDeleted: 'volume.deleted',
  VolumeRemoved: 'volume.removed',
  AutoscaleCreated: 'autoscale.created',
  AutoscalePolicies: 'autoscale.policies',
  AutoscaleDecision: 'autoscale.decision',
  AutoscaleDeleted: 'autoscale.deleted',
  ScheduleCreated: 'schedule.created',
  ScheduleChanged: 'schedule.changed',
  /** A run of it is over. The facts say with which result. */
  ScheduleRun: 'schedule.run',
  ScheduleDeleted: 'schedule.deleted',
  /** It is lost, or heard again after that. Administrators see it, as all kinds of hosts. */
  HostState: 'host.state',
  /** It is cordoned, emptied, or open again. */
  HostUse: 'host.use',
  /** The platform of a host's machine is upgraded, goes back, or is done with it. */
  HostUpgrade: 'host.upgrade',
  ImagePushed: 'image.pushed',
  ImageDeleted: 'image.deleted',
  TokenCreated: 'token.created',
  TokenRevoked: 'token.revoked',
  AccountCreated: 'account.created',
  AccountQuotas: 'account.quotas',
} as const
export type UserEventKind = (typeof UserEventKind)[keyof typeof UserEventKind]

/** The longest reason of an event, in characters. Texts of hosts and authorities are cut. */
export const maxWhyLength = 500

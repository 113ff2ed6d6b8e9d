import { AcmeChallenge } from './acme-challenge.ts'
import { ApiAddress } from './api-address.ts'
import { AuthorityAccount } from './authority-account.ts'
import { AuthorityOrder } from './authority-order.ts'
import { AutoscaleConfiguration } from './autoscale-configuration.ts'
import { AutoscaleDecision } from './autoscale-decision.ts'
import { CertificateAttempt } from './certificate-attempt.ts'
import { CertificateOrder } from './certificate-order.ts'
import { Certificate } from './certificate.ts'
import { ConsoleSession } from './console-session.ts'
import { DeletedPosition } from './deleted-position.ts'
import { Domain } from './domain.ts'
import { HostInvitation } from './host-invitation.ts'
import { Instance } from './instance.ts'
import { JoinedHost } from './joined-host.ts'
import { MetroCertificate } from './metro-certificate.ts'
import { Node } from './node.ts'
import { Rollout } from './rollout.ts'
import { Schedule } from './schedule.ts'
import { ScheduleRun } from './schedule-run.ts'
import { Service } from './service.ts'
import { Token } from './token.ts'
import { User } from './user.ts'
import { UserEvent } from './user-event.ts'
import { Volume } from './volume.ts'
import { Worker } from './worker.ts'

/** The entities of all tables that queries name. The change feed's own tables are in the migration alone. */
export const entities = [
  User,
  Token,
  Node,
  HostInvitation,
  JoinedHost,
  MetroCertificate,
  AuthorityAccount,
  AuthorityOrder,
  Certificate,
  CertificateOrder,
  AutoscaleConfiguration,
  AutoscaleDecision,
  CertificateAttempt,
  AcmeChallenge,
  Service,
  Domain,
  Volume,
  Instance,
  DeletedPosition,
  UserEvent,
  ConsoleSession,
  Schedule,
  ScheduleRun,
  Rollout,
  Worker,
  ApiAddress,
] as const

/**
 * Every limit of the API, with the status of the answer if it is exceeded. `docs/limits.md` is this file in
 * prose. The limits of an account (quotas) are not here: they are rows in the database.
 */

/** 413. The largest body. A create of 100 instances with 8 KiB of environment each fits. */
export const maxBodyBytes = 1_048_576
/** 431, answered by the HTTP server. Tokens are shorter than 200 bytes; the rest is for what proxies add. */
export const maxHeaderBytes = 16_384
/** 400 with code 5. The most objects that one request may name; as many as a page of the SDKs. */
export const maxObjectsPerRequest = 100
/** 400. The most additional instances of one create. On most accounts the quota is reached earlier. */
export const maxReplicas = 99
/** 400. The longest `id` with which a client finds its change again in the answer. */
export const maxChangeIdLength = 128
/** 400. The most tags of one object, and the longest tag. */
export const maxTags = 16
export const maxTagLength = 256
/** 400. The most objects of one page. A list without `count` is not cut. */
export const maxPageCount = 1_000
/** 400. The most errors that one answer names: a body of 1 MiB could hold 100 000 unknown parameters. */
export const maxReportedErrors = 20

/** 408, answered by the HTTP server. How long a client may take to send its headers. */
export const headersTimeoutMs = 10_000
/** 408, answered by the HTTP server. How long a client may take to send the whole request. */
export const receiveTimeoutMs = 30_000
/** 503 with code 12. How long the server may work on a request that does not wait for a state. */
export const handlingTimeoutMs = 30_000
/**
 * How long the answer to a create of volumes waits for their file systems. It waits because clients use a
 * new volume in their next request. A file system takes about a tenth of this time. If one takes longer,
 * the answer is sent without waiting further, and the volume's state says so.
 */
export const makingVolumesMs = 3_000
/**
 * The longest wait: that of -1 and of everything larger in `wait_timeout_ms` and `timeout_ms`. It is below
 * 300 s, after which clients in JavaScript give up if no headers of an answer have come.
 */
export const maxWaitMs = 290_000
/** How many moves one plan that makes hosts equally full has. Each is a pause of somebody's instance. */
export const defaultBalancingMoves = 10
export const maxBalancingMoves = 100
/** The longest drain, which -1 in `drain_timeout_ms` asks for. */
export const maxDrainMs = 3_600_000
/**
 * How many days events are kept (`ROOST_EVENT_DAYS`), and how many of one account at most: the oldest are
 * deleted first. A million events take about 500 MB.
 */
export const defaultEventDays = 30
export const maxEventsPerAccount = 1_000_000
/** The events of one answer if the request names no number, and 400: the most that it may name. */
export const defaultEventCount = 100
export const maxEventCount = 1_000
/**
 * 429 with `Retry-After`. The most streams, of events and of logs, at one API process. If it has as many
 * and another account asks for one, one of the account with the most is ended. Its client connects again
 * and misses no event.
 */
export const maxStreams = 1_000
/**
 * 429 with `Retry-After`. The most programs and copies of users (`/exec`, `/archive`) at one API process,
 * and of one account there. Each has a connection to the client and one to the host.
 */
export const maxExecSessions = 256
export const maxExecSessionsPerAccount = 32
/**
 * 429 with `Retry-After`. The same of connections into instances (`/connect`). A few pools of databases
 * fit into those of one account, and all accounts together leave most connections of the server to
 * requests.
 */
export const maxInnerConnections = 768
export const maxInnerConnectionsPerAccount = 192
/** A connection to the same port by the same token is told in an event only once in this time. */
export const connectionNewsMs = 600_000
/**
 * How long a program or a connection of a user may last: as long as its host keeps the instance awake for
 * it.
 */
export const maxExecMs = 86_400_000
/** How often it is checked whether the token of such a session is still valid. */
export const execTokenCheckMs = 60_000
/** How often a stream on which nothing happens sends a comment, so that proxies keep it open. */
export const streamBeatMs = 15_000
/** How long a client may take to receive what a stream has sent. A slower client is disconnected. */
export const slowStreamMs = 10_000
/** The most connections of the HTTP server; further ones are closed at once. */
export const maxConnections = 2_048
/**
 * 429. The most requests of one account under way at a time. This is a quarter of the connections, so that
 * the waits of one account keep nobody out.
 */
export const maxRequestsUnderWay = 512
/** How many requests may follow each other on one kept-alive connection before it is renewed. */
export const maxRequestsPerConnection = 10_000
/**
 * How long a kept-alive connection may be idle before it is closed. It is longer than the 60 s of common
 * proxies.
 */
export const keepAliveTimeoutMs = 65_000

/**
 * The most bytes of log in one answer. Clients ask for pages of 16383 bytes. They would regard a page that
 * was cut shorter as the last one.
 */
export const maxLogBytes = 65_536
export const defaultLogOffset = -4_096
export const defaultLogBytes = 4_096

/**
 * Limits of instance parameters, down to the next comment. They keep a launch within what a guest can be
 * given.
 */
export const maxArguments = 512
export const maxArgumentLength = 65_536
export const maxEnvVariables = 512
export const maxEnvNameLength = 256
export const maxEnvValueLength = 65_536
export const maxImageReferenceLength = 512

/**
 * 400. Limits of services, in this and the next three lines: the ports and domains of one service, and the
 * values of `soft_limit` and `hard_limit`.
 */
export const maxPort = 65_535
export const maxConnectionLimit = 65_535
export const maxPublishedPorts = 64
export const maxDomains = 16
/**
 * 400. The most characters of an uploaded certificate. The chain has room for ten certificates, each larger
 * than any that an authority issues. The key may be five times as long as the longest that is accepted.
 */
export const maxChainLength = 65_536
export const maxPrivateKeyLength = 16_384
/**
 * 400. The most volumes of one instance. A guest mounts only one, and the API's document allows no more
 * either.
 */
export const maxVolumesPerInstance = 1
/**
 * 400. The longest cooldown: a day. An instance that should stay awake for longer can have the policy
 * `off`.
 */
export const maxCooldownMs = 86_400_000

/** 400. The longest warm-up and cooldown of autoscale: as long as a drain may take. */
export const maxAutoscaleTimeMs = 3_600_000

/**
 * 429 with `Retry-After`. How many requests one token may make per second in the long run;
 * `ROOST_REQUESTS_PER_SECOND` changes it. Some clients poll without a pause, and stop at any status but 200
 * as if they had seen the end; one such client alone stays below this limit.
 */
export const defaultRequestsPerSecond = 1_000
/** How many seconds' worth of requests one token may make at once after a pause. */
export const requestBurstSeconds = 5
/**
 * 429 with `Retry-After`. How many attempts to sign in to the console one address may make: per minute in
 * the long run, and at once after a rest. A token can not be guessed; this bounds what attempts cost.
 */
export const signInsPerMinute = 10
export const signInsAtOnce = 20
/**
 * 429 with `Retry-After`. How many objects one account may make or change: per minute in the long run, for
 * each processor of the API's machine (`ROOST_CHANGES_PER_MINUTE` changes this one), and at once after a
 * rest. The number at once is enough to create and start all the instances of a new account.
 */
export const defaultChangesPerMinute = 60
export const changesAtOnce = 128
/**
 * An entry with code 5. How many DNS look-ups for proofs of domains one user may cause per second in the
 * long run, and how many at once, so that nobody can make the platform send endless queries to the DNS
 * servers of others. A request with 100 names of three labels passes at once.
 */
export const proofLookupsPerSecond = 1
export const proofLookupsAtOnce = 250

/**
 * An entry with code 5. The most tokens of one account that are neither revoked nor expired, if the account
 * makes them itself. That is one for each of many scripts; a list of all fits on a screen. The operator's
 * command may exceed it, so that nobody is locked out.
 */
export const maxTokens = 100
/** 400. The most services to which one token can be limited. A token for more can do without a limit. */
export const maxTokenServices = 16
/** 400. The most characters of a token's label: a line. */
export const maxTokenLabelLength = 128
/** 400. The longest lifetime of a token: ten years. Who wants a longer one can leave it out. */
export const maxTokenLifetimeSeconds = 315_360_000
/** An entry with code 5. The most schedules of one account. */
export const maxSchedules = 32
/** 400. The most instances that one schedule starts or stops. */
export const maxScheduledInstances = 32
/** 400. The longest time that one run of a schedule may take: a day. */
export const maxRunTimeoutSeconds = 86_400
/** The runs of each schedule that are kept, and the most bytes of log that each of them keeps. */
export const keptRuns = 50
export const keptRunLogBytes = 16_384

/** 400. The most steps of a rollout, and the longest watch of each: a day. */
export const maxCanarySteps = 16
export const maxBakeSeconds = 86_400
/** 400. The longest time for which an old version is kept: 30 days. */
export const maxKeepSeconds = 2_592_000
/** 400. Bounds of the checks of new instances. */
export const maxCheckTimes = 100
export const maxCheckIntervalMs = 60_000
export const maxCheckSeconds = 3_600
export const maxWatchedLatencyMs = 60_000
/** The rollouts of each service that are kept, and how many an answer has if the request names no number. */
export const keptRollouts = 50
export const defaultRolloutCount = 10

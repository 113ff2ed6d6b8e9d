/**
 * Every limit of the API, with the status it is answered with where it is exceeded. `docs/limits.md` is this
 * file in prose; the limits of an account (quotas) are rows in the database and not here.
 */

/** 413. A create of 100 instances with 8 KiB of environment each fits. */
export const maxBodyBytes = 1_048_576
/** 431, given by the HTTP server. Tokens are under 200 bytes; the rest is what proxies add. */
export const maxHeaderBytes = 16_384
/** 400 with code 5. Objects named by one request; as many as a page of the SDKs. */
export const maxObjectsPerRequest = 100
/** 400. Additional instances of one create; the account's quota binds earlier on most accounts. */
export const maxReplicas = 99
/** 400. Objects of one page; a list without `count` is not cut. */
export const maxPageCount = 1_000
/** 400. Errors named in one answer: a body of 1 MiB could hold 100 000 unknown parameters. */
export const maxReportedErrors = 20

/** 408, given by the HTTP server: how long a client may take to send its headers. */
export const headersTimeoutMs = 10_000
/** 408, given by the HTTP server: how long a client may take to send the whole request. */
export const receiveTimeoutMs = 30_000
/** 503 with code 12. How long the server works on a request that does not wait for a state. */
export const handlingTimeoutMs = 30_000
/**
 * How long the answer to a create of volumes waits for their file systems, which take a tenth of this:
 * clients create a volume and use it with the next request. One that takes longer is answered all the same,
 * and its state tells.
 */
export const makingVolumesMs = 3_000
/**
 * What -1 and everything larger stand for in `wait_timeout_ms` and `timeout_ms`: clients in JavaScript give
 * up on an answer whose headers take 300 s.
 */
export const maxWaitMs = 290_000
/** What -1 stands for in `drain_timeout_ms`, and the most it can be. */
export const maxDrainMs = 3_600_000
/** Connections of the HTTP server; further ones are closed at once. */
export const maxConnections = 2_048
/**
 * 429. Requests of one account under way at a time: a quarter of the connections, so that its waits keep
 * nobody out.
 */
export const maxRequestsUnderWay = 512
/** Requests that may follow each other on one kept-alive connection before it is renewed. */
export const maxRequestsPerConnection = 10_000
/** An idle kept-alive connection is closed after this; longer than the common proxies' 60 s. */
export const keepAliveTimeoutMs = 65_000

/** The most bytes of log in one answer. The clients page with 16383 and take a shorter page for the last. */
export const maxLogBytes = 65_536
export const defaultLogOffset = -4_096
export const defaultLogBytes = 4_096

/** Instance parameters. Counts and lengths keep a launch within what a guest can be given. */
export const maxArguments = 512
export const maxArgumentLength = 65_536
export const maxEnvVariables = 512
export const maxEnvNameLength = 256
export const maxEnvValueLength = 65_536
export const maxImageReferenceLength = 512

/** 400. Services: ports of one, domains of one, and what `soft_limit` and `hard_limit` can be. */
export const maxPort = 65_535
export const maxConnectionLimit = 65_535
export const maxPublishedPorts = 64
export const maxDomains = 16
/**
 * 400. Of an upload, in characters: a chain of ten certificates, each larger than any that an authority
 *      issues, and the
 * longest key that is taken, five times.
 */
export const maxChainLength = 65_536
export const maxPrivateKeyLength = 16_384
/** 400. A guest mounts one; the API's document has no more either. */
export const maxVolumesPerInstance = 1
/** 400. A day: whoever wants an instance to stay awake for longer has the policy `off`. */
export const maxCooldownMs = 86_400_000

/** 400. Warm-up and cooldown of autoscale: as long as a drain may take. */
export const maxAutoscaleTimeMs = 3_600_000

/**
 * 429 with `Retry-After`. Requests per second of one token, for ever; `ROOST_REQUESTS_PER_SECOND` changes it.
 * Some clients poll without a pause and take anything but 200 for the end: one of them alone stays below
 * this.
 */
export const defaultRequestsPerSecond = 1_000
/** How many seconds' worth may come at once after a pause. */
export const requestBurstSeconds = 5
/**
 * 429 with `Retry-After`. Objects that one account makes or changes per minute for ever, for each processor
 * of the API's machine, and how many at once after a rest: all the instances of a new account, and a start of
 * each. `ROOST_CHANGES_PER_MINUTE` changes the first.
 */
export const defaultChangesPerMinute = 60
export const changesAtOnce = 128
/**
 * An entry with code 5. Look-ups in DNS for proofs of domains, of one user in the long run and at once, so
 * that nobody has the platform ask somebody's servers without an end. A request with 100 names of three
 * labels comes through at once.
 */
export const proofLookupsPerSecond = 1
export const proofLookupsAtOnce = 250

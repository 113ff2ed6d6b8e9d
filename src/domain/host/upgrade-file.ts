/**
 * The name of a file in the agent's directory. The process that runs the platform writes how an upgrade goes,
 * or went last (`HostUpgrade`), and the agent tells it with each heartbeat.
 */
export const upgradeFileName = 'upgrade.json'

/** The version of Roost that this is, as in `package.json`. Hosts tell theirs with each heartbeat. */
export const roostVersion = '0.1.0'

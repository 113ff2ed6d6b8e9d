/**
 * The name of a file in the agent's directory. It says that the platform began to end with its VMs, and when,
 * so that the next agent does not report those ends as the instances' own.
 */
export const haltMarkerName = 'halting'

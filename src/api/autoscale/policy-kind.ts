/** What policies are called in messages. */
export const policyKind = 'autoscale policy'

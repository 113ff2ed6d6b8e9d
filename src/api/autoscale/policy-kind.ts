/** The word for policies in messages. */
export const policyKind = 'autoscale policy'

/** What an authority's problem (RFC 8555, 6.7) means and what to do about it. `name` is the domain. */
export interface ProblemWords {
  readonly means: string
  readonly toDo: string
}

const portWords = 'Let port 80 of every address of the name lead to the gateway, through every firewall.'
const operatorWords = 'This is for the operator of this installation.'

const words: Readonly<Record<string, (name: string) => ProblemWords>> = {
  dns: (name) => ({
    means: `The authority could not look ${name} up.`,
    toDo: `Check the name's DNS servers, and DNSSEC where it is used: every one of them has to answer from everywhere.`,
  }),
  connection: (name) => ({
    means: `The authority could not connect to what ${name} leads to.`,
    toDo: portWords,
  }),
  unauthorized: (name) => ({
    means: `What answers for ${name} is not this gateway, or not only: the authority did not get the answer that it expects.`,
    toDo: `Let every address of ${name} lead to the gateway; a proxy in between has to pass /.well-known/acme-challenge/ on unchanged.`,
  }),
  incorrectResponse: (name) => ({
    means: `What answers for ${name} is not this gateway, or not only: the authority did not get the answer that it expects.`,
    toDo: `Let every address of ${name} lead to the gateway; a proxy in between has to pass /.well-known/acme-challenge/ on unchanged.`,
  }),
  tls: (name) => ({
    means: `The authority's TLS connection to ${name} was not answered by this gateway.`,
    toDo: `Let port 443 of every address of ${name} lead to the gateway without anything that ends TLS before it, or open port 80.`,
  }),
  caa: (name) => ({
    means: `CAA records forbid this authority to issue for ${name}, or could not be looked up.`,
    toDo: 'Change the CAA records so that they name this authority, or remove them.',
  }),
  rateLimited: () => ({
    means:
      'The authority has issued too much lately, for this name, its domain or this installation. It is not counted as a failure.',
    toDo: 'Nothing: it is tried again when the authority wants it.',
  }),
  serverInternal: () => ({
    means: 'The authority has trouble of its own. It is not counted as a failure.',
    toDo: 'Nothing: it is tried again by itself.',
  }),
  rejectedIdentifier: (name) => ({
    means: `The authority does not issue for ${name} as a matter of policy, so it is not asked again.`,
    toDo: 'Use another name, or upload a certificate of another authority.',
  }),
  unsupportedIdentifier: (name) => ({
    means: `The authority does not issue for names like ${name}, so it is not asked again.`,
    toDo: 'Use another name, or upload a certificate of another authority.',
  }),
  externalAccountRequired: () => ({
    means: 'The authority takes accounts only from its customers.',
    toDo: `Set ROOST_ACME_EAB_KID and ROOST_ACME_EAB_HMAC_KEY to what it hands out. ${operatorWords}`,
  }),
  invalidContact: () => ({
    means: 'The authority does not take the contact address.',
    toDo: `Set ROOST_ACME_CONTACT to a mail address that it can write to. ${operatorWords}`,
  }),
  unsupportedContact: () => ({
    means: 'The authority does not take the contact address.',
    toDo: `Set ROOST_ACME_CONTACT to a mail address that it can write to. ${operatorWords}`,
  }),
  userActionRequired: () => ({
    means: 'The authority wants its customer to do something first, such as to agree to new terms.',
    toDo: `Follow what it says. ${operatorWords}`,
  }),
  accountDoesNotExist: () => ({
    means: 'The authority does not know the account of this installation, nor did it take a new one.',
    toDo: `Ask the authority why. ${operatorWords}`,
  }),
}

const prefix = 'urn:ietf:params:acme:error:'

/** Returns undefined if there is nothing to add to what the authority said. */
export function wordsOfProblem(type: string, name: string): ProblemWords | undefined {
  if (!type.startsWith(prefix)) return undefined
  const short = type.slice(prefix.length)
  return Object.hasOwn(words, short) ? words[short]?.(name) : undefined
}

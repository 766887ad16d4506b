/** What the subjects of an installation begin with unless its operator says otherwise. */
export const DEFAULT_PREFIX = 'orrery';
const CONTRACT_PREFIX = 'orrery.';

/** Contracts name subjects `orrery.…`; on the server these begin with the installation's prefix. */
export const subjectsUnder = (prefix: string): ((subject: string) => string) =>
  prefix === DEFAULT_PREFIX
    ? (subject) => subject
    : (subject) => `${prefix}.${subject.slice(CONTRACT_PREFIX.length)}`;

/** The subjects that only processes of one service receive: a service's user may subscribe to these alone. */
export const inboxOf = (service: string, prefix: string): string => `${prefix}.inbox.${token(service)}`;

/** The stream of all facts of an installation. */
export const streamName = (prefix: string): string => `${token(prefix).toUpperCase()}_FACTS`;

/** A durable's name holds no dots. `subject`: as the contract names it. */
export const durableName = (consumer: string, subject: string): string =>
  token(`${consumer}-${subject.replace('orrery.facts.', '')}`);

/** A text as one token of a subject, or a name in JetStream. */
const token = (text: string): string => text.replaceAll(/[^\w-]/g, '_');

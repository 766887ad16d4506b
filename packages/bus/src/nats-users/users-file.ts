import { type NamedRpc, subscriberTraffic, TRAFFIC, type Traffic } from '@orrery/contracts';
import { durableName, inboxOf, streamName, subjectsUnder } from '../nats/subjects.js';
import { aliveSubject, broadcastSubject, cancelSubject } from '../wire/wire-format.js';

/** A part of a configuration of nats-server: one user for each service, and for each subscriber. */
export function usersFile(prefix: string, subscribers: readonly string[]): string {
  const traffic: [string, Traffic][] = [
    ...Object.entries<Traffic>(TRAFFIC),
    ...subscribers.map((name): [string, Traffic] => [name, subscriberTraffic(name)]),
  ];
  const users = traffic.map(([user, does]) => userText(user, permissionsOf(user, does, prefix)));
  return [
    '# Written by `npm run nats-users`: what each service may do on NATS follows from the contracts.',
    '# Passwords come from the environment of nats-server: letters and digits, a letter first.',
    'authorization {',
    '  users: [',
    ...users,
    '  ]',
    '}',
    '',
  ].join('\n');
}

/** The variable that holds a user's password: `NATS_CHAIN_PUSHER_PASSWORD`. */
export const passwordVariable = (user: string): string =>
  `NATS_${user.replaceAll(/\W/g, '_').toUpperCase()}_PASSWORD`;

const userText = (user: string, { publish, subscribe }: Permissions): string =>
  [
    `    { user: "${user}", password: $${passwordVariable(user)}, permissions: {`,
    `      publish: { allow: [${listText(publish)}] }`,
    `      subscribe: { allow: [${listText(subscribe)}] }`,
    '    } }',
  ].join('\n');

const listText = (subjects: readonly string[]): string =>
  `\n${subjects.map((subject) => `        "${subject}"`).join('\n')}\n      `;

/** What a user of NATS may do; everything else is refused. */
interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * What a service, or a subscriber, needs for its traffic: of calls those that it makes, to all processes or to one, whose
 * name is the token after the RPC's. Answers go to the caller's inbox, whose subjects nobody can guess.
 */
function permissionsOf(user: string, traffic: Traffic, prefix: string): Permissions {
  const named = subjectsUnder(prefix);
  const ofCall = ({ service, subject }: NamedRpc): string[] => {
    // Outside callers name no process.
    if (traffic.serves === undefined) return [subject];
    // Processes of the release before name one of their own kind in the last token.
    return service === user ? [ofNoun(subject), `${ofNoun(subject)}.*`] : [subject, `${subject}.*`];
  };
  const service = traffic.serves === undefined ? nothing : ofService(user, traffic, prefix);
  return {
    publish: unique([
      ...service.publish,
      ...traffic.calls.flatMap((rpc) => ofCall(rpc).map(named)),
      ...traffic.consumes.flatMap(({ consumer, message }) => ofConsumer(consumer, message.subject, prefix)),
    ]),
    subscribe: unique([`${inboxOf(user, prefix)}.>`, ...service.subscribe]),
  };
}

const nothing: Permissions = { publish: [], subscribe: [] };

function ofService(user: string, { calls, listens }: Traffic, prefix: string): Permissions {
  const named = subjectsUnder(prefix);
  const own = (kind: string) => `${prefix}.${kind}.${user}.*`;
  const stream = streamName(prefix);
  return {
    publish: [
      `${prefix}.inbox.>`,
      own('facts'),
      own('broadcasts'),
      named(aliveSubject(user)),
      ...calls.map(({ service }) => named(cancelSubject(service))),
      '$JS.API.INFO',
      ...['CREATE', 'UPDATE', 'INFO'].map((verb) => `$JS.API.STREAM.${verb}.${stream}`),
    ],
    subscribe: [
      `${prefix}.${user}.>`,
      named(cancelSubject(user)),
      named(aliveSubject('*')),
      own('broadcasts'),
      ...listens.map((message) => named(broadcastSubject(message))),
    ],
  };
}

/** Making and using one consumer of the facts of one subject. */
function ofConsumer(consumer: string, subject: string, prefix: string): string[] {
  const stream = streamName(prefix);
  const durable = `${stream}.${durableName(consumer, subject)}`;
  return [
    `$JS.API.CONSUMER.CREATE.${durable}.${subjectsUnder(prefix)(subject)}`,
    `$JS.API.CONSUMER.INFO.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${durable}`,
    `$JS.ACK.${durable}.>`,
  ];
}

/** `orrery.runtime.journal.range` → `orrery.runtime.journal.*`, which holds `range@process` too. */
const ofNoun = (subject: string): string => `${subject.slice(0, subject.lastIndexOf('.'))}.*`;

const unique = (subjects: readonly string[]): string[] => [...new Set(subjects)];

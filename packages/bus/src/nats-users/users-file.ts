import { subscriberTraffic, TRAFFIC, type Traffic } from '@orrery/contracts';
import { type PermissionOptions, type Permissions, permissionsOf } from './permissions.js';

/** A part of a configuration of nats-server: one user for each service, and for each subscriber. */
export function usersFile(options: PermissionOptions, subscribers: readonly string[]): string {
  const traffic: [string, Traffic][] = [
    ...Object.entries<Traffic>(TRAFFIC),
    ...subscribers.map((name): [string, Traffic] => [name, subscriberTraffic(name)]),
  ];
  const users = traffic.map(([user, does]) => userText(user, permissionsOf(user, does, options)));
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

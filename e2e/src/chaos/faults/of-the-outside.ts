import { MISBEHAVIOUR, type Profile } from '@orrery/testing/model-server';
import type { Conduct } from '@orrery/testing/payments';
import type { Behaviour } from '@orrery/testing/servers';
import { answersOperation } from '../load/start-load.js';
import type { Fault } from './of-processes.js';

const CONDUCTS: readonly Conduct[] = [
  'unreachable',
  'slow',
  'answers 500',
  'drops its reply',
  'lies about success',
  'lies about refusal',
  'refuses without a reason',
];

const behaves = (...profiles: (keyof typeof MISBEHAVIOUR)[]): Fault => ({
  targets: profiles.map((profile) => `model ${profile}`),
  longestMs: 5000,
  inflict: ({ model }, target) => {
    model.behave(MISBEHAVIOUR[target.slice('model '.length) as keyof typeof MISBEHAVIOUR] as Profile);
    return () => model.behave(answersOperation);
  },
});

/** What each has been sent counts as arrived all the same. */
const RECEIVERS: Readonly<Record<string, Behaviour>> = {
  'receiver answers 500': () => 500,
  'receiver hangs': () => 'hang',
  'receiver drops its answer': (_delivery, response) => {
    response.destroy();
    return 'own';
  },
};

export const ofTheOutside = {
  'model errors': behaves('server error', 'disconnect mid-answer', 'invalid JSON', 'rate limit'),
  'model hangs': behaves('hang'),
  'facilitator misbehaves': {
    targets: CONDUCTS.map((conduct) => `facilitator ${conduct}`),
    longestMs: 4000,
    inflict: ({ payments: { facilitator } }, target) => {
      facilitator.conduct = target.slice('facilitator '.length) as Conduct;
      return () => {
        facilitator.conduct = 'honest';
      };
    },
  },
  'receiver of webhooks misbehaves': {
    targets: ['receiver answers 500', 'receiver hangs', 'receiver drops its answer'],
    longestMs: 4000,
    inflict: ({ receiver }, target) => {
      receiver.behave(RECEIVERS[target] ?? (() => 500));
      return () => receiver.behave(() => 200);
    },
  },
  'node of a chain away': {
    targets: ['chain', 'payments'],
    longestMs: 6000,
    inflict: ({ nodes }, target) => {
      const link = nodes[target as 'chain' | 'payments'];
      link.cut();
      return () => link.mend();
    },
  },
} satisfies Record<string, Fault>;

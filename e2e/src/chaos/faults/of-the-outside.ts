import { MISBEHAVIOUR, type Profile } from '@orrery/testing/model-server';
import type { Conduct } from '@orrery/testing/payments';
import { answersOperation } from '../load/model-of-operations.js';
import type { Fault } from './fault.js';

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
  places: profiles.map((profile) => `model ${profile}`),
  longestMs: 5000,
  inflict: ({ model }, place) => {
    model.behave(MISBEHAVIOUR[place.slice('model '.length) as keyof typeof MISBEHAVIOUR] as Profile);
    return () => model.behave(answersOperation);
  },
});

export const ofTheOutside = {
  'model errors': behaves('server error', 'disconnect mid-answer', 'invalid JSON', 'rate limit'),
  'model hangs': behaves('hang'),
  'facilitator misbehaves': {
    places: CONDUCTS.map((conduct) => `facilitator ${conduct}`),
    longestMs: 4000,
    inflict: ({ payments: { facilitator } }, place) => {
      facilitator.conduct = place.slice('facilitator '.length) as Conduct;
      return () => {
        facilitator.conduct = 'honest';
      };
    },
  },
  'node of a chain away': {
    places: ['chain', 'payments'],
    longestMs: 6000,
    inflict: ({ nodes }, place) => {
      const link = nodes[place as 'chain' | 'payments'];
      link.cut();
      return () => link.mend();
    },
  },
} satisfies Record<string, Fault>;

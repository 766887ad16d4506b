import { SERVICES } from '@orrery/testing/system';
import { type Fault, memberAt } from './fault.js';

export const MEMBERS: readonly string[] = [1, 2].flatMap((number) =>
  SERVICES.map((service) => `${service}-${number}`),
);

const ended = (signal: NodeJS.Signals): Fault => ({
  places: MEMBERS,
  longestMs: 4000,
  inflict: (house, place) => {
    const member = memberAt(house, place);
    member.end(signal);
    return () => member.restart();
  },
});

/** Minutes by which the wall clock of a process may be wrong. */
const MINUTES_WRONG = [-11, -2, -0.1, 0.1, 2, 11];

export const ofProcesses = {
  'kill -9': ended('SIGKILL'),
  'asked to end': ended('SIGTERM'),
  // Longer than a lease and than a call.
  frozen: {
    places: MEMBERS,
    longestMs: 12_000,
    inflict: (house, place) => {
      const member = memberAt(house, place);
      member.freeze(true);
      return () => member.freeze(false);
    },
  },
  'clock moved': {
    places: MEMBERS.flatMap((name) => MINUTES_WRONG.map((minutes) => `${name} ${minutes} min`)),
    longestMs: 20_000,
    inflict: (house, place) => {
      const member = memberAt(house, place);
      member.moveClock(Number(place.split(' ')[1]) * 60_000);
      return () => member.moveClock(0);
    },
  },
} satisfies Record<string, Fault>;

import { SERVICES } from '@orrery/testing/system';
import type { Member } from '../house/member.js';
import type { House } from '../house/start-house.js';
import type { FaultRange } from '../plan/draw-plan.js';

export const MEMBERS: readonly string[] = [1, 2].flatMap((number) =>
  SERVICES.map((service) => `${service}-${number}`),
);

const ended = (signal: NodeJS.Signals): Fault => ({
  targets: MEMBERS,
  longestMs: 4000,
  inflict: (house, target) => {
    const member = memberAt(house, target);
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
    targets: MEMBERS,
    longestMs: 12_000,
    inflict: (house, target) => {
      const member = memberAt(house, target);
      member.freeze(true);
      return () => member.freeze(false);
    },
  },
  'clock moved': {
    targets: MEMBERS.flatMap((name) => MINUTES_WRONG.map((minutes) => `${name} ${minutes} min`)),
    longestMs: 20_000,
    inflict: (house, target) => {
      const member = memberAt(house, target);
      member.moveClock(Number(target.split(' ')[1]) * 60_000);
      return () => member.moveClock(0);
    },
  },
} satisfies Record<string, Fault>;

/** Ends a fault. */
export type Undo = () => unknown;

/** A kind of fault. */
export interface Fault extends FaultRange {
  inflict(house: House, target: string): Promise<Undo> | Undo;
}

/** The process that a target names first, as in `runtime-1 nats`. */
export function memberAt(house: House, target: string): Member {
  const found = house.members.find(({ name }) => name === target.split(' ', 1)[0]);
  if (found === undefined) throw new RangeError(`there is no process at ${target}`);
  return found;
}

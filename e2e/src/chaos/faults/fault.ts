import type { Member } from '../house/member.js';
import type { House } from '../house/start-house.js';
import type { FaultRange } from '../plan/draw-plan.js';

/** Ends a fault. */
export type Undo = () => unknown;

/** A kind of fault. */
export interface Fault extends FaultRange {
  inflict(house: House, place: string): Promise<Undo> | Undo;
}

/** The process that a place names first, as in `runtime-1 nats`. */
export function memberAt(house: House, place: string): Member {
  const found = house.members.find(({ name }) => name === place.split(' ', 1)[0]);
  if (found === undefined) throw new RangeError(`there is no process at ${place}`);
  return found;
}

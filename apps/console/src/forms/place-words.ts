import { stepsOf } from '../ui/pointer.js';

/** A place within an input or a state: `laps`, `car.speed`, `stamina of horse:H1`; undefined for all of it. */
export function placeWords(pointer: string): string | undefined {
  const [first, ...others] = stepsOf(pointer);
  if (first === undefined) return undefined;
  const isInstance = first.includes(':');
  if (isInstance && others.length > 0) return `${others.join('.')} of ${first}`;
  return [first, ...others].join('.');
}

import { type Frame, fail, spend } from '../frame.js';
import { type CelValue, isMap, isNumber, wordFor } from '../values/cel-value.js';
import { equals } from '../values/equality.js';
import { keyToText } from '../values/value-to-text.js';

/** `x in y`: an element of a list, or a key of an object (a number stands for its digits). */
export function contains(frame: Frame, item: CelValue, container: CelValue): boolean {
  if (Array.isArray(container)) {
    spend(frame, container.length);
    return container.some((element) => equals(frame, element, item));
  }
  if (!isMap(container)) return fail(`cannot look for something in ${wordFor(container)}`);
  return (typeof item === 'string' || isNumber(item)) && Object.hasOwn(container, keyToText(item));
}

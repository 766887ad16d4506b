import { type Draws, fractionOf, indexOf, MAX_DRAWS } from '../../draws/draws.js';
import { type CelValue, EvaluationFailure, fail, spend, type Work, wordFor } from '../values/cel-value.js';
import type { Native } from './conversions.js';

/** A draw takes as long as so many nodes of an expression. */
const DRAW_COST = 50;

function tooMany(): never {
  throw new EvaluationFailure(`One execution draws at most ${MAX_DRAWS} random numbers.`, true);
}

/** What is left to draw from. Only templates that may draw compile, and those who evaluate them bring draws. */
function drawsOf({ draws }: Work): Draws {
  if (draws === undefined) throw new EvaluationFailure('Nothing can be drawn here.', true);
  return draws;
}

function draw(frame: Work): bigint {
  const draws = drawsOf(frame);
  if (draws.isUsedUp) tooMany();
  spend(frame, DRAW_COST);
  return draws.next();
}

/** A whole number from 0 to `count` − 1. */
function below(frame: Work, count: bigint): bigint {
  for (;;) {
    const index = indexOf(draw(frame), count);
    if (index !== undefined) return index;
  }
}

function asBound(value: CelValue | undefined): bigint {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return BigInt(number);
  return fail(({ computed }) =>
    Number.isNaN(number)
      ? `The function "random.int" takes two whole numbers, not ${wordFor(value ?? null)}.`
      : `The function "random.int" takes whole numbers from -(2^53 - 1) to 2^53 - 1, not ${computed(number)}.`,
  );
}

const int: Native = (frame, [from, to]) => {
  const [least, most] = [asBound(from), asBound(to)];
  if (least > most)
    return fail(
      ({ computed }) =>
        `The function "random.int" takes the lower number first: ${computed(least)} is above ${computed(most)}.`,
    );
  return least + below(frame, most - least + 1n);
};

const float: Native = (frame) => fractionOf(draw(frame));

function asList(name: string, value: CelValue | undefined): readonly CelValue[] {
  if (Array.isArray(value)) return value;
  return fail(
    () =>
      `The function "random.${name}" takes a list, not ${wordFor(value ?? null)}. The keys of an object are "object.map(k, k)".`,
  );
}

const pick: Native = (frame, [from]) => {
  const list = asList('pick', from);
  if (list.length === 0) return fail('The function "random.pick" takes a list that is not empty.');
  return list[Number(below(frame, BigInt(list.length)))] ?? null;
};

/** Fisher–Yates from the end. A list that would draw too much is refused before it is copied. */
const shuffle: Native = (frame, [from]) => {
  const list = asList('shuffle', from);
  if (drawsOf(frame).drawn + list.length - 1 > MAX_DRAWS) tooMany();
  spend(frame, list.length);
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const at = Number(below(frame, BigInt(last + 1)));
    [shuffled[last], shuffled[at]] = [shuffled[at] ?? null, shuffled[last] ?? null];
  }
  return shuffled;
};

/** Named with their number of arguments, without their namespace `random`. */
export const randomFunctions: ReadonlyMap<string, Native> = new Map([
  ['int/2', int],
  ['float/0', float],
  ['pick/1', pick],
  ['shuffle/1', shuffle],
]);

import { describe, expect, it } from 'vitest';
import { ExpressionFault } from './compile-context.js';
import { compileExpression, expressionCompiler } from './compile-expression.js';
import { EvaluationFailure } from './frame.js';

const scope = {
  input: { id: 'H9', car: { speed: 1 }, list: [1] },
  entities: { horse: { H1: { stamina: 1 }, H2: { stamina: 2 } }, fence: {} },
};

/** Why an expression does not compile, or fails. */
function messageOf(source: string): string {
  const compiled = compileExpression(source, expressionCompiler(Object.keys(scope), 1_000));
  if (compiled instanceof ExpressionFault) return compiled.message;
  try {
    compiled({ scope, locals: [], work: 10_000 });
  } catch (error) {
    if (error instanceof EvaluationFailure) return error.reason;
  }
  return '';
}

describe('what cannot be read is named', () => {
  it.each([
    ['input.ids', 'The input has no "ids". Did you mean "id"?'],
    ['input.car.sped', 'There is no "sped". Did you mean "speed"?'],
    [
      'entities.hrose.H1',
      'Nothing was read of the entity schema "hrose": readEntities does not name it. Did you mean "horse"?',
    ],
    [
      'entities.horse[input.id].stamina',
      'No instance "H9" of "horse" was read: it does not exist, or no filter of readEntities selects it.',
    ],
    [
      'entities["fence"].F1',
      'No instance "F1" of "fence" was read: it does not exist, or no filter of readEntities selects it.',
    ],
    [
      'entities.horse["H1 "]',
      'No instance "H1 " of "horse" was read: it does not exist, or no filter of readEntities selects it. The text "H1 " has a space at its end. Leave it out.',
    ],
    ['entities.horse.H1.stamna', 'The instance of "horse" has no "stamna". Did you mean "stamina"?'],
    ['entities[input.id].H1', 'Nothing was read of the entity schema "H9": readEntities does not name it.'],
    ['[{"wins": 1}].map(entities, entities.horse)', 'There is no "horse".'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });
});

describe('what does not parse is told in the words of its author', () => {
  it.each([
    ['', 'The placeholder is empty: write an expression, as in {{ input.id }}.'],
    ['  ', 'The placeholder is empty: write an expression, as in {{ input.id }}.'],
    [
      'input.in',
      '"in" cannot follow a dot, since it is a word of the language or no identifier: write input["in"].',
    ],
    [
      '1 + input.car.null',
      '"null" cannot follow a dot, since it is a word of the language or no identifier: write input.car["null"].',
    ],
    [
      'input.1st',
      '"1st" cannot follow a dot, since it is a word of the language or no identifier: write input["1st"].',
    ],
    [
      'input.horse-id + 1',
      'For a name with "-" write input["horse-id"]. The name "id" is not known. Known here: input, entities.',
    ],
    ['round(input.n)', 'There is no function "round" with 1 argument. Did you mean "math.round"?'],
    ['Math.min(input.n, 5)', 'There is no function "Math.min". Write "math.least".'],
    ['1 + max(input.n, 5)', 'There is no function "max". Write "math.greatest".'],
    ['Math.floor(1.5)', 'There is no function "Math.floor". Write "math.floor".'],
    ['Math.pow(2, 3)', 'There is no function "Math.pow" with 2 arguments.'],
    ['Number(input.id)', 'There is no function "Number". Write "double".'],
    ['input.id.toUpperCase()', 'There is no function "toUpperCase". Write "upperAscii".'],
    ['input.id === "H9"', 'Write "==" for "===".'],
    ['input.id===1', 'Write "==" for "===".'],
    ['input.id !== "H9"', 'Write "!=" for "!==".'],
    ['input.id = "H9"', 'Write "==" to compare; an expression assigns nothing.'],
    ['input.a and input.b', 'Write "&&" for "and".'],
    ['input.a or input.b', 'Write "||" for "or".'],
    ['input.n ?? 0', 'For "??" write a condition, as in "has(input.n) ? input.n : 0".'],
    ['[input.n == ]', 'Unexpected token: "]".'],
    ['input.list.map(x => x)', 'Unexpected character: =.'],
    ['input.', 'The expression ends too early.'],
    ['(input.id', 'The expression ends too early.'],
    ['input.id in', 'The expression ends too early.'],
    ['[1 2]', 'Expected "]", got a number.'],
    ['inputs.id', 'The name "inputs" is not known. Did you mean "input"? Known here: input, entities.'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });
});

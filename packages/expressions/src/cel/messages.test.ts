import { describe, expect, it } from 'vitest';
import { compileExpression, expressionCompiler } from './compile-expression.js';
import { ExpressionFault } from './nodes/compile-context.js';
import { EvaluationFailure } from './values/cel-value.js';

/** As JavaScript writes values into texts. */
const DOLLAR = '$';

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
    ['Math.hypot(2, 3)', 'There is no function "Math.hypot" with 2 arguments.'],
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
    ['input.n * / 2', 'Unexpected token: "/".'],
    ['input.a && && input.b', 'Unexpected token: "&&".'],
    ['input n', 'Unexpected "n" after a complete expression.'],
    [
      'input.$n',
      '"$n" cannot follow a dot, since it is a word of the language or no identifier: write input["$n"].',
    ],
    ['input.startWith("a")', 'There is no function "startWith" with 1 argument. Did you mean "startsWith"?'],
    ['math.rond(1.5)', 'There is no function "math.rond" with 1 argument. Did you mean "math.round"?'],
    ['input.', 'The expression ends too early.'],
    ['(input.id', 'The expression ends too early.'],
    ['input.id in', 'The expression ends too early.'],
    ['[1 2]', 'Expected "]", got a number.'],
    ['inputs.id', 'The name "inputs" is not known. Did you mean "input"? Known here: input, entities.'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });
});

describe('what another language has is told with what to write here', () => {
  const loop = 'Write the variable and then the expression: "input.list.map(x, x * 2)".';
  const power = 'For a power write the product, as in "input.n * input.n".';
  const assigned =
    'An expression assigns nothing: write the new value, as in "input.n + 1", or { "$increment": 1 }.';

  it.each([
    ['input.list.map(x => x * 2)', loop],
    ['input.list.reduce((a, b) => a + b, 0)', loop],
    ['input.list.map(() => 1)', loop],
    ['input.list.map(function(x) { return x })', loop],
    ['lambda x: x', loop],
    ['[x for x in input.list]', loop],
    ['input.car.speed ** 2', power],
    ['input.car.speed ^ 2', power],
    ['input.n += 1', assigned],
    ['input.n -= 1', assigned],
    ['input.n++', assigned],
    ['++input.n', assigned],
    ['input.n--', assigned],
    ['input.id=1', 'Write "==" to compare; an expression assigns nothing.'],
    ['input.a AND input.b', 'Write "&&" for "and".'],
    ['input.a & input.b', 'Write "&&" for "&".'],
    ['input.a OR input.b', 'Write "||" for "or".'],
    ['input.a | input.b', 'Write "||" for "|".'],
    [
      'input.a | upper',
      'Values are not piped through filters: write a function, as in "input.text.upperAscii()", or "||" for "or".',
    ],
    ...['#if input.a', '/if', 'else'].map((block): [string, string] => [
      block,
      'There are no blocks: write a condition as "input.a ? 1 : 2", and a loop as "input.list.map(x, x * 2)".',
    ]),
    ...['input.a ? 1', '[input.a ? 1, 2]'].map((half): [string, string] => [
      half,
      'A condition needs a value for either case: write "input.a ? 1 : 2", or "input.a ? 1 : null".',
    ]),
    ['not input.a', 'Write "!" for "not".'],
    ['input.a && NOT input.b', 'Write "!" for "not".'],
    ['1 not in input.list', 'Write "!(x in list)" for "not in".'],
    ['input.id <> 1', 'Write "!=" for "<>".'],
    ['input.id is null', 'Write "==" for "is".'],
    ['input.id IS NOT NULL', 'Write "!=" for "is not".'],
    ['1 if input.a else 2', 'Write a condition as "input.a ? 1 : 2".'],
    ['if (input.a) { 1 }', 'Write a condition as "input.a ? 1 : 2".'],
    ['CASE WHEN input.a THEN 1 END', 'Write a condition as "input.a ? 1 : 2".'],
    ['input?.id', 'For "?." write a condition, as in "has(input.n) ? input.n : 0".'],
    ['input.id ?: 0', 'For "?:" write a condition, as in "has(input.n) ? input.n : 0".'],
    ['return input.id', 'Leave out "return": an expression is its value.'],
    ['let x = 1; x', expect.stringContaining('cel.bind(x, input.n, x + 1)')],
    [`\`lap ${DOLLAR}{input.id}\``, expect.stringContaining('"lap " + string(input.n)')],
    [`${DOLLAR}{input.id}`, `Write "input.n" for "${DOLLAR}{input.n}": the braces {{ … }} are enough.`],
    ['typeof input.id', 'Write "type(x)" for "typeof x".'],
    ['throw new Error("x")', expect.stringContaining('fail("n must be above 0")')],
    ['new Date()', 'The time of the execution is in "timestamp", "date" and "unix".'],
    ['[...input.list, 4]', 'For "..." add lists, as in "input.list + [4]".'],
    ['+input.id', expect.stringContaining('double(input.text)')],
    ['.5', 'Write the zero before the dot, as in "0.5".'],
    ['{a: 1}', expect.stringContaining('A key is a text: write "{"a": …}".')],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toEqual(message);
  });

  it.each([
    ['not(input.a)', 'Write "!".'],
    ['length(input.list)', 'Write "size".'],
    ['input.list.length()', 'Write "size".'],
    ['input.list.includes(1)', 'Write "contains" for a text, and "x in list" for a list.'],
    ['input.list.push(1)', 'Write "list + [x]", or { "$append": x } as the value of the attribute.'],
    ['pow(2, 3)', power],
    ['Math.pow(2, 3)', power],
    ['round(1.234, 2)', 'For two decimals write "math.round(x * 100.0) / 100.0".'],
    ['input.id.abs()', 'Write "math.abs(x)".'],
    ['COALESCE(input.n, 0)', expect.stringContaining('has(input.n) ? input.n : 0')],
    ['Object.keys(input.car)', 'Write "object.map(k, k)".'],
    ['Math.random()', expect.stringContaining('random.float()')],
    ['now()', 'The time of the execution is in "timestamp", "date" and "unix".'],
    ['parseInt(input.id, 10)', 'Write "int(x)".'],
  ])('%s', (source, hint) => {
    const name = source.slice(0, source.indexOf('(')).replace(/^input\.\w+\./, '');
    const [, told] = messageOf(source).split(`There is no function "${name}". `);
    expect(told).toEqual(hint);
  });

  it.each([
    ['input.id == None', 'Write "null".'],
    ['input.a == True', 'Write "true".'],
    ['input.id == undefined', '"has(input.n)"'],
    ['this.id', 'The caller\'s values are in "input"'],
  ])('%s', (source, hint) => {
    expect(messageOf(source)).toContain(hint);
  });
});

describe('what fails when it is evaluated says what to write', () => {
  it.each([
    ['input.list.length', 'Cannot read "length" of a list. Write "size(input.list)".'],
    ['input.id.length', 'Cannot read "length" of text. Write "size(input.id)".'],
    ['input.list.map(x, x).length', 'Cannot read "length" of a list. Write "size(input.list.map(x, x))".'],
    ['entities.horse.length', 'Write "size(entities.horse)".'],
    ['input.id[0]', 'Cannot read "0" of text. Write "charAt(0)" for a character.'],
    ['input.list[-1]', 'The last one is "list[size(list) - 1]".'],
    ['input.list.contains(1)', 'The function "contains" expects text. For a list write "x in list".'],
    ["'a' + 1", 'Cannot add text and a number. Write "string(x)" around what is no text'],
    ['input.list + 1', 'Cannot add a list and a number. A list takes a list: write "[x]" around an element.'],
    ['input.id || "none"', 'a default for an absent one is "has(input.n) ? input.n : 0".'],
    ['0 < 1 < 2', 'Cannot compare a boolean with a number. For "a < b < c" write "a < b && b < c".'],
    ['input.id.getHours()', 'The function expects a time, not text. Write "timestamp(x)" around a text.'],
    ['entities.horse.filter(h, h.stamina > 1)', 'A loop over an object goes over its keys'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toContain(message);
  });

  it('gives the advice about sizes only where nothing has such an attribute', () => {
    expect(messageOf('{"length": 1}.length')).toBe('');
    expect(messageOf('input.length')).toBe('The input has no "length".');
  });
});

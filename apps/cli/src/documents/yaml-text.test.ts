import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml, writeYaml } from './yaml-text.js';

const read = (text: string) => readYaml(text, 'horse.yaml').value;

describe('YAML', () => {
  it('holds any JSON without changing it', () => {
    const word = fc.constantFrom(
      ' ',
      '  ',
      '\n',
      '\n \n',
      '\t',
      'race',
      'horses ',
      'the weather decides who wins ',
    );
    const longLines = fc.array(word, { minLength: 10, maxLength: 40 }).map((words) => words.join(''));
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom(' ', '\n', '\t', ':', '#', '-', '{{', 'a long word', "'", '"', '\\', '…'))
        .map((parts) => parts.join('')),
      longLines,
      fc.constantFrom(
        'yes',
        'null',
        '~',
        '0x12',
        '1e3',
        '.inf',
        '<<',
        '',
        ' ',
        '012',
        '2026-01-01',
        '{{input.x}}',
      ),
    );
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        text,
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .map((value) => (Object.is(value, -0) ? 0 : value)),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(text, tie('json'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(json, (value) => {
        expect(read(writeYaml({ value }))).toEqual({ value });
      }),
      {
        numRuns: 1000,
        examples: [
          [' \n'],
          ['\n a'],
          ['a \nb'],
          [` ${'word '.repeat(30)}`],
          ['You are the referee of a horse race.\n \nDecide by speed and weather who wins.'],
        ],
      },
    );
  });

  it('shows prompts so that a difference is a line', () => {
    const prompt = 'All horses run one race.\n\nDecide by speed who wins.\n';
    expect(writeYaml({ prompt })).toBe(
      'prompt: |\n  All horses run one race.\n\n  Decide by speed who wins.\n',
    );
    expect(writeYaml({ prompt: 'fast '.repeat(30).trim() })).toMatch(
      /^prompt: >-\n {2}fast .*\n {2}fast .*\n$/,
    );
  });

  it('takes what only YAML calls a number as the text that it is', () => {
    expect(read('to: 0xab12\nat: .inf\nn: 12')).toEqual({ to: '0xab12', at: '.inf', n: 12 });
  });

  it('is refused with its place', () => {
    expect(() => read('name: horse\nattributes: [')).toThrow(/^horse\.yaml, line 2, column 14: /);
    expect(() => read('a: 1\na: 2')).toThrow('horse.yaml, line 2, column 1: Map keys must be unique.');
  });

  it('is refused with a number that no JSON can hold', () => {
    expect(() => read('name: horse\nmax: 1e400')).toThrow(
      'horse.yaml, line 2, column 6: The number 1e400 is too large.',
    );
    expect(() => read('{"min": [-1e999]}')).toThrow('horse.yaml, line 1, column 10: ');
  });

  it('is refused with a whole number that would be sent as another one', () => {
    expect(() => read('name: horse\nid: 12345678901234567890')).toThrow(
      'horse.yaml, line 2, column 5: The number 12345678901234567890 would be sent as 12345678901234567000. As a text, in quotes, it stays as it is.',
    );
    expect(() => read('{"a": [{"id": -9007199254740993}]}')).toThrow('column 15: ');
    // What JSON says of a large number, and of any that is no whole one, it says again.
    const values = [12345678901234567000, 9007199254740992, 1e21, -1e300, 0.1, 5e-324];
    expect(read(writeYaml({ values }))).toEqual({ values });
    expect(read('[1000000000000000000000, +012, 0.12345678901234567890]')).toEqual([
      1e21, 12, 0.12345678901234568,
    ]);
  });

  it('says what has to stand in quotes', () => {
    expect(() => read('name: brew\nhoney: {{ input.kilos }}')).toThrow(
      'horse.yaml, line 2, column 9: Put a placeholder in quotes: "{{ … }}".',
    );
    expect(() => read('honey: {{ entities.hive[input.hive].honey - input.kilos }}')).toThrow(
      /^horse\.yaml, line 1, column \d+: .* Put a placeholder in quotes/,
    );
    expect(() => read('schedule: * * * * *')).toThrow(
      /^horse\.yaml, line 1, column 11: A star begins an alias\. .* in quotes/,
    );
  });

  it('knows the line of a part, and of what is around it', () => {
    const { lineOf } = readYaml('name: horse\nattributes:\n  - name: wins\n    type: integer\n', 'x');
    expect(lineOf(['attributes', '0', 'type'])).toBe(4);
    expect(lineOf(['attributes', '0', 'constraints', 'min'])).toBe(3);
    expect(lineOf(['promptSeed'])).toBe(1);
  });
});

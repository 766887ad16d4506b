import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate } from './evaluate-template.js';

/** Aimed at is 50 ms; a busy machine may take its time, and gets a second chance. Without bounds these take minutes. */
const LIMIT_MS = 500;

const list = Array.from({ length: 20_000 }, (_, i) => i);
const input = {
  list,
  object: Object.fromEntries(list.map((i) => [`k${i}`, i])),
  text: 'a'.repeat(60_000),
  other: `${'a'.repeat(59_999)}b`,
  spaces: `${' '.repeat(60_000)}a`,
  emoji: '😀'.repeat(30_000),
  marks: '\u0315'.repeat(1_000) + '\u0316'.repeat(1_000),
  shortMarks: '\u0315\u0316'.repeat(100),
  manyMarks: '\u0315'.repeat(30_000) + '\u0316'.repeat(30_000),
};

describe('an evaluation ends in time', () => {
  it.each([
    'input.list.map(a, input.list.map(b, input.list.map(c, a + b + c)))',
    'input.list.exists(a, input.list.exists(b, a.b))',
    `[input.text]${'.map(x, x + x)'.repeat(30)}`,
    `[input.list]${'.map(x, x + x)'.repeat(30)}`,
    `[1]${'.map(x, [x, x])'.repeat(40)}`,
    `[1]${'.map(x, [x, x])'.repeat(40)} == [1]${'.map(x, [x, x])'.repeat(40)}`,
    'input.list.map(x, input.text.replace("a", "bbbbbbbbbbbbbbbbbbb"))',
    'input.list.map(x, input.text.split(""))',
    'input.list.map(x, input.emoji.size())',
    'input.list.map(x, input.emoji.substring(1, 2))',
    'input.list.map(x, input.text.contains(input.other))',
    '(input.text + input.text + input.text + input.text).lastIndexOf(input.text + input.other)',
    '(input.text + input.text + input.text + input.text).split(input.text + input.other)',
    'input.list.map(x, input.spaces.trim())',
    'input.list.map(x, input.object.size())',
    'input.list.map(x, input.object.exists(k, true))',
    'input.list.map(x, input.object == input.object)',
    'input.list.map(x, x in input.list)',
    'input.list.map(x, input.text < input.other)',
    'input.list.map(x, (input.text + input.text) == (input.other + input.other))',
    'input.list.map(x, ["a", "b", "c"].join(input.text))',
    'input.list.map(x, timestamp("2024-01-01T00:00:00Z").getHours("America/New_York"))',
    'input.list.map(x, string(x) + input.text.reverse())',
    'input.list.map(x, input.marks in input)',
    'input.list.map(x, input.shortMarks in input)',
    'input.list.map(x, input.manyMarks in input)',
    'input.list.map(x, has(input[input.marks]))',
    'input.list.exists(x, input[input.marks])',
    'input.list.map(x, {(input.text + string(x)): x})',
    'input.list.map(x, 1.7e308 % 3e-310)',
    'input.list.map(x, "a".startsWith(input.text + string(x)))',
    'input.list.exists(x, timestamp(0).getHours(input.text) == 1)',
  ])('%s', (expression) => {
    const compiled = compileTemplate(`{{ ${expression} }}`, { names: ['input'] });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    expect(cpuMs(() => evaluateTemplate(compiled.template, { input }))).toBeLessThan(LIMIT_MS);
  });
});

describe('a compilation ends in time', () => {
  it.each([
    ['open placeholders', '{{'.repeat(100_000)],
    ['open strings', "{{'".repeat(80_000)],
    ['open comments', '{{//'.repeat(60_000)],
    ['empty placeholders', '{{}}'.repeat(60_000)],
    ['empty comments', '{{//}}'.repeat(43_000)],
    ['line breaks', `${'\n'.repeat(100_000)}{{ nope }}`.repeat(2)],
    ['many expressions', Array.from({ length: 1_000 }, () => `{{ ${'1+'.repeat(30)}1 }}`)],
    ['signs', `{{ ${'-'.repeat(4_000)}1 }}`],
    ['brackets', `{{ ${'['.repeat(4_000)} }}`],
    ['choices', `{{ ${'a?b:'.repeat(1_000)}c }}`],
  ])('%s', (_, template) => {
    expect(cpuMs(() => compileTemplate(template, { names: ['input'] }))).toBeLessThan(LIMIT_MS);
  });
});

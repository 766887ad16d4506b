import { readFileSync } from 'node:fs';
import {
  type JsonObject,
  MISTAKE_CODES,
  type MistakeCode,
  parseJson,
  ServiceError,
  suggested,
} from '@orrery/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { bootCatalog, type RunningTestCatalog } from './running-catalog.js';

const page = readFileSync(new URL('../../../docs/mistakes.md', import.meta.url), 'utf8');
const [, world = ''] = /```json world\n(.*?)```/s.exec(page) ?? [];
const [, mistakes = '', warnings = ''] = page.split(/^## (?:Mistakes|Warnings)$/m);

interface Told {
  readonly code: string;
  readonly text: string;
  readonly example: JsonObject | undefined;
}

/** The sections of a part of the page. */
const sectionsOf = (part: string): Told[] =>
  part
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const [, code = ''] = /^`(\w+)`/.exec(text) ?? [];
      const [, json] = /```json\n(.*?)```/s.exec(text) ?? [];
      return { code, text, example: json === undefined ? undefined : (parseJson(json) as JsonObject) };
    });

const direct = (template: object, parts: object = {}) => ({
  mutationSettings: { mode: 'direct', template },
  ...parts,
});
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, value]));

/** Examples that are too large for the page, or cannot be written in it. */
const LARGE: Partial<Record<MistakeCode, object>> = {
  invalid_text: { inputSchema: { ['\u0000']: 'string' } },
  too_deep: { inputSchema: nested(40) },
  too_large: { behaviorPrompt: 'x'.repeat(40_000) },
  limit_reached: { attributes: Object.keys(many(300, 0)).map((name) => ({ name, type: 'json' })) },
  schema_too_large: { inputSchema: many(2000, 'string') },
  template_too_large: direct({ 'horse:H1': many(20_000, 1) }),
};

/**
 * JSON that the bus carries has no such numbers, and the gateway counts its values. The others need a deployment: see
 * `mistakes.int.test.ts` and the runtime's `messages.int.test.ts`.
 */
const ELSEWHERE = [
  'number_out_of_range',
  'too_many_values',
  'price_raised',
  'pay_to_address_missing',
  'event_not_bound',
];

describe('docs/mistakes.md', () => {
  let catalog: RunningTestCatalog;
  beforeAll(async () => {
    catalog = await bootCatalog();
  });

  it('lists every code once, with its suggestion', () => {
    const sections = [...sectionsOf(mistakes), ...sectionsOf(warnings)];
    for (const { code, text } of sections)
      expect(text).toContain(`*${suggested({ pointer: '', code, message: '' }).suggestion}*`);
    const listed = sections.map(({ code }) => code);
    expect(listed.toSorted()).toEqual(MISTAKE_CODES.toSorted());
  });

  /** The codes that the check of an example finds. */
  async function codesOf(example: object): Promise<{ problems: string[]; warnings: string[] }> {
    const schemas = parseJson(world) as JsonObject[];
    const body = bodyOf(example, schemas);
    try {
      const { data } = await catalog.call('worlds.check', { body });
      for (const { suggestion } of [...data.problems, ...data.warnings]) expect(suggestion).not.toBe('');
      return { problems: data.problems.map(codeOf), warnings: data.warnings.map(codeOf) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'internal') throw error;
      for (const problem of error.errors) expect(problem).toHaveProperty('suggestion');
      return { problems: error.errors.map(codeOf), warnings: [] };
    }
  }

  const exampleOf = ({ code, example }: Told) => example ?? LARGE[code as MistakeCode];
  const tested = (part: string) =>
    sectionsOf(part)
      .filter(({ code }) => !ELSEWHERE.includes(code))
      .map((told) => [told.code, told] as const);

  it.each(tested(mistakes))('has an example of the mistake %s', async (code, told) => {
    expect((await codesOf(exampleOf(told) ?? {})).problems).toContain(code);
  });

  it.each(tested(warnings))('has an example of the warning %s, which refuses nothing', async (code, told) => {
    const found = await codesOf(exampleOf(told) ?? {});
    expect(found).toEqual({ problems: [], warnings: expect.arrayContaining([code]) });
  });
});

const codeOf = ({ code }: { code: string }): string => code;

/** An example is a world, an entity schema or a version. */
function bodyOf(example: object, entitySchemas: object[]): object {
  if ('entitySchemas' in example || 'events' in example) return example;
  if ('attributes' in example) return { entitySchemas: [{ name: 'plot', ...example }] };
  return { entitySchemas, events: [{ name: 'race', firstVersion: example }] };
}

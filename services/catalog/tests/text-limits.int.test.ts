import { beforeAll, describe, expect, it } from 'vitest';
import { bootCatalog, type RunningTestCatalog } from './running-catalog.js';

const KIB = 1024;
const limits = { promptBytes: 2 * KIB, descriptionBytes: KIB, domainTags: 2, domainTagCharacters: 3 };

describe('texts beyond the limits of the operator', () => {
  let catalog: RunningTestCatalog;
  let world: string;
  beforeAll(async () => {
    catalog = await bootCatalog({ limits });
    world = (
      await catalog.call('worlds.create', { body: { name: 'small', promptSeed: 'x'.repeat(2 * KIB) } })
    ).data.address;
  });

  const prompt = 'x'.repeat(2 * KIB + 1);
  const description = 'ü'.repeat(KIB / 2 + 1);

  it.each([
    ['a prompt of a world', 'worlds.create', { name: 'w', promptSeed: prompt }, ['/promptSeed']],
    ['a description in UTF-8', 'worlds.create', { name: 'w', description }, ['/description']],
    ['too many tags', 'worlds.create', { name: 'w', domainTags: ['a', 'b', 'c'] }, ['/domainTags']],
    ['a long tag', 'worlds.create', { name: 'w', domainTags: ['abc', 'abcd'] }, ['/domainTags/1']],
    [
      'several',
      'worlds.create',
      { name: 'w', description, promptSeed: prompt },
      ['/description', '/promptSeed'],
    ],
    [
      'prompts of a first version',
      'events.create',
      { name: 'e', firstVersion: { behaviorPrompt: prompt, mutationSettings: { behaviorPrompt: prompt } } },
      ['/firstVersion/behaviorPrompt', '/firstVersion/mutationSettings/behaviorPrompt'],
    ],
  ] as const)('%s', async (_what, name, body, pointers) => {
    const params = name === 'events.create' ? { worldAddress: world } : {};
    const refusal = await catalog.call(name, { params, body }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'validation_failed',
      errors: pointers.map((pointer) => expect.objectContaining({ pointer })),
    });
  });

  it('are shown by the catalog', async () => {
    expect(await catalog.ask('limits.ofDefinitions', {})).toMatchObject({ ...limits, schemasPerWorld: 500 });
  });
});
